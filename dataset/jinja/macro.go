package jinja

import (
	"slices"
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

func (d definition) run(_ *renderer, s *scope) signal {
	s.vars[d.name] = &macro{d, s}
	return done
}

// A macro is a definition and the scope it stands in.
type macro struct {
	definition
	around *scope
}

func (m *macro) attribute(name string) (value, bool) {
	if name == "name" {
		return m.name, true
	}
	fail("the attribute %s of a macro is not supported", name)
	return nil, false
}

func (m *macro) call(r *renderer, a *arguments) value {
	if r.depth++; r.depth > maxDepth {
		fail("macros call each other too deeply")
	}
	defer func() { r.depth-- }()
	r.charge(scopeCost)
	inner := m.body.scope(m.around)
	m.bindExtra(inner, a)
	for i, p := range m.parameters {
		given, ok := a.named(p.name)
		switch {
		case ok && i < len(a.positional):
			fail("macro '%s' got several values for '%s'", m.name, p.name)
		case ok:
			inner.vars[p.name] = given
		case i < len(a.positional):
			inner.vars[p.name] = a.positional[i]
		case p.otherwise != nil:
			inner.vars[p.name] = r.eval(p.otherwise, inner)
		default:
			inner.vars[p.name] = undefined{"parameter '" + p.name + "' was not provided"}
		}
	}
	text, _ := r.capture(m.body.block, inner)
	return text
}

// bindExtra gives the macro the arguments it has no parameter for, where it
// mentions the names for them, and refuses them where it does not.
func (m *macro) bindExtra(inner *scope, a *arguments) {
	var more tuple
	if n := len(m.parameters); len(a.positional) > n {
		more = tuple(a.positional[n:])
	}
	named := newDict()
	var caller value = undefined{"no caller defined"}
	for i, name := range a.names {
		switch {
		case slices.ContainsFunc(m.parameters, func(p parameter) bool { return p.name == name }):
		case name == "caller":
			caller = a.keywords[i]
		default:
			named.set(name, a.keywords[i])
		}
	}
	for name, extra := range map[string]value{"varargs": more, "kwargs": named, "caller": caller} {
		if m.used[name] {
			inner.vars[name] = extra
		} else if truth(extra) {
			fail("macro '%s' takes no such arguments: %s", m.name, name)
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
	a.names = append(a.names, "caller")
	a.keywords = append(a.keywords, &macro{c.caller, s})
	r.line = c.call.line
	r.write(textOf(r.call(called, a)))
	return done
}
