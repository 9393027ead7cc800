package jinja

import (
	"strconv"
	"strings"
)

// percent is Python's format % v, with the plain verbs.
func (r *renderer) percent(format string, v value) string {
	values, ok := v.(tuple)
	if !ok {
		values = tuple{v}
	}
	var b strings.Builder
	used := 0
	for {
		text, rest, found := strings.Cut(format, "%")
		b.WriteString(text)
		if !found {
			break
		}
		if strings.HasPrefix(rest, "%") {
			b.WriteByte('%')
			format = rest[1:]
			continue
		}
		if used == len(values) {
			fail("not enough arguments for format string")
		}
		b.WriteString(verb(rest, values[used]))
		used++
		format = rest[1:]
	}
	if used < len(values) && !mayGoUnused(v) {
		fail("not all arguments converted during string formatting")
	}
	r.charge(b.Len())
	return b.String()
}

// mayGoUnused reports whether Python accepts v as the argument of a format that does
// not use it.
func mayGoUnused(v value) bool {
	switch v.(type) {
	case *dict, list, span:
		return true
	}
	return false
}

func verb(spec string, v value) string {
	switch {
	case strings.HasPrefix(spec, "s"):
		return textOf(v)
	case strings.HasPrefix(spec, "r"):
		return repr(v)
	case strings.HasPrefix(spec, "d") || strings.HasPrefix(spec, "i"):
		return strconv.Itoa(integer(v, "%d"))
	}
	fail("the format %%%.8s is not supported", spec)
	return ""
}

// braces is Python's s.format(…) with plain fields: {}, {0} and {name}.
func (r *renderer) braces(s string, a *arguments) string {
	var b strings.Builder
	next := 0
	for s != "" {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		if brace := s[i : i+1]; strings.HasPrefix(s[i+1:], brace) {
			b.WriteString(brace)
			s = s[i+2:]
			continue
		}
		field, rest, found := strings.Cut(s[i+1:], "}")
		if s[i] == '}' || !found {
			fail("a single brace in a format string")
		}
		b.WriteString(textOf(a.field(field, &next)))
		s = rest
	}
	r.charge(b.Len())
	return b.String()
}

// field is the argument for {field} in a format string.
func (a *arguments) field(field string, next *int) value {
	n, err := strconv.Atoi(field)
	if field == "" {
		n, err = *next, nil
		*next++
	}
	if err == nil {
		if n < 0 || n >= len(a.positional) {
			fail("no argument for {%s} in a format string", field)
		}
		return a.positional[n]
	}
	if !isIdentifier(field) || nameAt(field) != field {
		fail("the format field {%s} is not supported", field)
	}
	v, ok := a.named(field)
	if !ok {
		fail("no argument for {%s} in a format string", field)
	}
	return v
}
