package jinja

import (
	"strings"
	"time"

	"github.com/servebench/servebench/dataset/jinja/python"
)

// globals are the names that every template knows. now is its clock; nil refuses to tell the time.
func globals(now func() time.Time) map[string]python.Value {
	vars := make(map[string]python.Value)
	for name, call := range map[string]func(m *python.Meter, a *python.Arguments) python.Value{
		"range":           python.MakeRange,
		"dict":            python.MakeDict,
		"namespace":       python.MakeNamespace,
		"raise_exception": raise,
		"strftime_now":    strftimeNow(now),
		"lipsum":          refused("lipsum"),
		"cycler":          refused("cycler"),
		"joiner":          refused("joiner"),
	} {
		vars[name] = python.Function(call)
	}
	return vars
}

func refused(name string) func(*python.Meter, *python.Arguments) python.Value {
	return func(*python.Meter, *python.Arguments) python.Value {
		python.Raise("%s is not supported", name)
		return nil
	}
}

func raise(_ *python.Meter, a *python.Arguments) python.Value {
	python.Raise("the template refuses: %s", python.Text(a.Only("raise_exception")))
	return nil
}

func strftimeNow(now func() time.Time) func(*python.Meter, *python.Arguments) python.Value {
	return func(_ *python.Meter, a *python.Arguments) python.Value {
		format := python.AsString(a.Only("strftime_now"), "strftime_now")
		if now == nil {
			python.Raise("strftime_now: there is no clock")
		}
		return strftime(now(), format)
	}
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
			python.Raise("strftime_now: %%%c is not supported", format[i])
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
