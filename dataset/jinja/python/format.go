package python

import (
	"strconv"
	"strings"
)

// percent is Python's format % v, with the plain verbs.
func percent(m *Meter, format string, v Value) string {
	values, ok := v.(Tuple)
	if !ok {
		values = Tuple{v}
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
			Raise("not enough arguments for format string")
		}
		b.WriteString(verb(rest, values[used]))
		used++
		format = rest[1:]
	}
	if used < len(values) && !mayGoUnused(v) {
		Raise("not all arguments converted during string formatting")
	}
	m.Charge(b.Len())
	return b.String()
}

// mayGoUnused reports whether Python accepts v as the argument of a format that does
// not use it.
func mayGoUnused(v Value) bool {
	switch v.(type) {
	case *Dict, List, span:
		return true
	}
	return false
}

func verb(spec string, v Value) string {
	switch {
	case strings.HasPrefix(spec, "s"):
		return Text(v)
	case strings.HasPrefix(spec, "r"):
		return repr(v)
	case strings.HasPrefix(spec, "d") || strings.HasPrefix(spec, "i"):
		return strconv.Itoa(AsInteger(v, "%d"))
	}
	Raise("the format %%%.8s is not supported", spec)
	return ""
}

// braces is Python's s.format(…) with plain fields: {}, {0} and {name}.
func braces(m *Meter, s string, a *Arguments) string {
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
			Raise("a single brace in a format string")
		}
		b.WriteString(Text(a.field(field, &next)))
		s = rest
	}
	m.Charge(b.Len())
	return b.String()
}

// field is the argument for {field} in a format string.
func (a *Arguments) field(field string, next *int) Value {
	n, err := strconv.Atoi(field)
	if field == "" {
		n, err = *next, nil
		*next++
	}
	if err == nil {
		if n < 0 || n >= len(a.Positional) {
			Raise("no argument for {%s} in a format string", field)
		}
		return a.Positional[n]
	}
	if !IsIdentifier(field) || NameAt(field) != field {
		Raise("the format field {%s} is not supported", field)
	}
	v, ok := a.Named(field)
	if !ok {
		Raise("no argument for {%s} in a format string", field)
	}
	return v
}
