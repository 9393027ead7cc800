package jinja

import "slices"

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

// bindExtra sets varargs, kwargs and caller, from arguments that have no parameter,
// where the macro mentions these names. Where it does not, it refuses the arguments.
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

// arguments are the arguments of a call.
type arguments struct {
	positional list
	names      []string // of the keyword arguments
	keywords   list     // the value of each name
}

// absent is the value of an argument that the call leaves out.
type absent struct{}

// expect refuses keyword arguments, and a number of arguments that what does not take.
func (a *arguments) expect(what string, least, most int) {
	if len(a.names) > 0 {
		fail("%s takes no keyword argument '%s'", what, a.names[0])
	}
	if n := len(a.positional); n < least || n > most {
		fail("%s takes %d to %d arguments, not %d", what, least, most, n)
	}
}

// bind moves keyword arguments to the position of their names. The first least
// arguments are required.
func (a *arguments) bind(what string, least int, names ...string) {
	if len(a.positional) > len(names) {
		fail("%s takes at most %d arguments, not %d", what, len(names), len(a.positional))
	}
	places := slices.Repeat(list{absent{}}, len(names))
	copy(places, a.positional)
	for i, name := range a.names {
		place := slices.Index(names, name)
		if place < 0 {
			fail("%s takes no keyword argument '%s'", what, name)
		}
		if !isAbsent(places[place]) {
			fail("%s got several values for '%s'", what, name)
		}
		places[place] = a.keywords[i]
	}
	for i := range least {
		if isAbsent(places[i]) {
			fail("%s needs the argument '%s'", what, names[i])
		}
	}
	a.positional, a.names, a.keywords = places, nil, nil
}

func (a *arguments) at(i int) value { return a.positional[i] }

// or is argument i, or otherwise where the call leaves it out.
func (a *arguments) or(i int, otherwise value) value {
	if i >= len(a.positional) || isAbsent(a.positional[i]) {
		return otherwise
	}
	return a.positional[i]
}

func isAbsent(v value) bool {
	_, ok := v.(absent)
	return ok
}

// only is the argument of a call that must have one argument.
func (a *arguments) only(what string) value {
	a.expect(what, 1, 1)
	return a.positional[0]
}

func (a *arguments) named(name string) (value, bool) {
	i := slices.Index(a.names, name)
	if i < 0 {
		return nil, false
	}
	return a.keywords[i], true
}
