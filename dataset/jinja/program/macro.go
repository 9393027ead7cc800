package program

import (
	"slices"

	"github.com/servebench/servebench/dataset/jinja/python"
)

type parameter struct {
	name      string
	otherwise expression // nil: must be given, or is undefined
}

// A definition is the tag that makes a macro.
type definition struct {
	line       int
	name       string
	parameters []parameter
	body       section
	used       map[string]bool // the names it mentions
}

func (d definition) run(r *renderer, s *scope) signal {
	s.vars[d.name] = &macro{d, s, r}
	return done
}

// A macro is a definition, the scope it stands in, and what runs it.
type macro struct {
	definition
	around *scope
	by     *renderer
}

// Attribute is m.name.
func (m *macro) Attribute(name string) (python.Value, bool) {
	if name == "name" {
		return m.name, true
	}
	python.Raise("the attribute %s of a macro is not supported", name)
	return nil, false
}

// Call is the text that the body of the macro makes.
func (m *macro) Call(_ *python.Meter, a *python.Arguments) python.Value {
	r := m.by
	if r.depth++; r.depth > python.MaxDepth {
		python.Raise("macros call each other too deeply")
	}
	defer func() { r.depth-- }()
	r.meter.Charge(scopeCost)
	inner := m.body.scope(m.around)
	m.bindExtra(inner, a)
	for i, p := range m.parameters {
		given, ok := a.Named(p.name)
		switch {
		case ok && i < len(a.Positional):
			python.Raise("macro '%s' got several values for '%s'", m.name, p.name)
		case ok:
			inner.vars[p.name] = given
		case i < len(a.Positional):
			inner.vars[p.name] = a.Positional[i]
		case p.otherwise != nil:
			inner.vars[p.name] = r.eval(p.otherwise, inner)
		default:
			inner.vars[p.name] = python.Undefined("parameter '" + p.name + "' was not provided")
		}
	}
	text, _ := r.capture(m.body.block, inner)
	return text
}

// bindExtra sets varargs, kwargs and caller, from arguments that have no parameter,
// where the macro mentions these names. Where it does not, it refuses the arguments.
func (m *macro) bindExtra(inner *scope, a *python.Arguments) {
	var more python.Tuple
	if n := len(m.parameters); len(a.Positional) > n {
		more = python.Tuple(a.Positional[n:])
	}
	named := python.NewDict()
	var caller python.Value = python.Undefined("no caller defined")
	for i, name := range a.Names {
		switch {
		case slices.ContainsFunc(m.parameters, func(p parameter) bool { return p.name == name }):
		case name == "caller":
			caller = a.Keywords[i]
		default:
			named.Set(name, a.Keywords[i])
		}
	}
	for name, extra := range map[string]python.Value{"varargs": more, "kwargs": named, "caller": caller} {
		if m.used[name] {
			inner.vars[name] = extra
		} else if python.Truth(extra) {
			python.Raise("macro '%s' takes no such arguments: %s", m.name, name)
		}
	}
}

// A callBlock calls a macro that may call the block in turn.
type callBlock struct {
	call   call
	caller definition
}

func (c callBlock) run(r *renderer, s *scope) signal {
	called := r.eval(c.call.function, s)
	a := c.call.arguments.eval(r, s)
	a.Names = append(a.Names, "caller")
	a.Keywords = append(a.Keywords, &macro{c.caller, s, r})
	r.line = c.call.line
	r.write(python.Text(python.Call(r.meter, called, a)))
	return done
}
