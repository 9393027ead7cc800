package jinja

import (
	"strings"
	"time"
)

// globals are the names that every template knows.
func globals() map[string]value {
	vars := make(map[string]value)
	for name, call := range map[string]func(r *renderer, a *arguments) value{
		"range":           makeRange,
		"dict":            makeDict,
		"namespace":       makeNamespace,
		"raise_exception": raise,
		"strftime_now":    strftimeNow,
		"lipsum":          refused("lipsum"),
		"cycler":          refused("cycler"),
		"joiner":          refused("joiner"),
	} {
		vars[name] = function{name, call}
	}
	return vars
}

func refused(name string) func(*renderer, *arguments) value {
	return func(*renderer, *arguments) value {
		fail("%s is not supported", name)
		return nil
	}
}

func makeRange(_ *renderer, a *arguments) value {
	a.expect("range", 1, 3)
	s := span{step: 1}
	if len(a.positional) == 1 {
		s.stop = integer(a.at(0), "range")
	} else {
		s.start, s.stop = integer(a.at(0), "range"), integer(a.at(1), "range")
		s.step = integer(a.or(2, 1), "range")
	}
	if s.step == 0 {
		fail("range() arg 3 must not be zero")
	}
	const largest = 100_000
	if s.len() > largest || s.len() < 0 {
		fail("range too big: the limit is %d", largest)
	}
	return s
}

// collected is a dict of the arguments of a call of dict or namespace.
func collected(r *renderer, what string, a *arguments) *dict {
	d := newDict()
	if len(a.positional) > 1 {
		fail("%s takes at most one positional argument", what)
	}
	if len(a.positional) == 1 {
		if from, ok := a.at(0).(*dict); ok {
			d = from.clone()
		} else {
			for _, pair := range elements(r, a.at(0)) {
				both := elements(r, pair)
				if len(both) != 2 {
					fail("%s needs pairs", what)
				}
				d.set(both[0], both[1])
			}
		}
	}
	for i, name := range a.names {
		d.set(name, a.keywords[i])
	}
	return d
}

func makeDict(r *renderer, a *arguments) value { return collected(r, "dict", a) }

func makeNamespace(r *renderer, a *arguments) value {
	n := &namespace{make(map[string]value)}
	d := collected(r, "namespace", a)
	for i, key := range d.keys {
		n.vars[str(key, "namespace")] = d.values[i]
	}
	return n
}

func raise(_ *renderer, a *arguments) value {
	fail("the template refuses: %s", textOf(a.only("raise_exception")))
	return nil
}

func strftimeNow(r *renderer, a *arguments) value {
	format := str(a.only("strftime_now"), "strftime_now")
	if r.now == nil {
		fail("strftime_now: there is no clock")
	}
	return strftime(r.now(), format)
}

// directives are the directives of C's strftime, in the C locale, as layouts of
// package time.
var directives = map[byte]string{
	'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'e': "_2", 'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM",
	'B': "January", 'b': "Jan", 'h': "Jan", 'A': "Monday", 'a': "Mon", 'j': "002",
	'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", 'D': "01/02/06",
}

func strftime(t time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		unpadded := format[i] == '-' && i+1 < len(format)
		if unpadded {
			i++
		}
		switch layout, ok := directives[format[i]]; {
		case format[i] == '%':
			b.WriteByte('%')
		case !ok || unpadded && len(layout) > len("002"):
			fail("strftime_now: %%%c is not supported", format[i])
		case unpadded:
			b.WriteString(unpad(t.Format(layout)))
		default:
			b.WriteString(t.Format(layout))
		}
	}
	return b.String()
}

func unpad(number string) string {
	if short := strings.TrimLeft(number, "0 "); short != "" {
		return short
	}
	return "0"
}
