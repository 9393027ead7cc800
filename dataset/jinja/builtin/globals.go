package builtin

import (
	"time"

	"github.com/servebench/servebench/dataset/jinja/python"
)

// Globals are the names that every template knows. now is its clock; with nil it refuses strftime_now.
func Globals(now func() time.Time) map[string]python.Value {
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
