package jinja

import "slices"

// A signal is how the run of a statement ended: at its end, or by a jump that a
// loop around it is to take.
type signal int

const (
	done signal = iota
	broken
	continued
)

type statement interface {
	run(r *renderer, s *scope) signal
}

type (
	block  []statement
	data   string
	output struct {
		line int
		of   expression
	}
	conditional struct {
		line            int
		test            expression
		then, otherwise block
	}
	assignment struct {
		line int
		to   target
		of   expression
	}
	blockAssignment struct {
		line   int
		to     target
		filter expression // nil without
		body   section
	}
	filterBlock struct {
		filter expression
		body   section
	}
	with struct {
		line    int
		targets []target
		values  []expression
		body    section
	}
	jump signal
)

// capturedName stands for the text of a block in the filters on it. No template can spell it.
const capturedName = "captured text"

func (b block) run(r *renderer, s *scope) signal {
	for _, statement := range b {
		r.charge(step)
		if ended := statement.run(r, s); ended != done {
			return ended
		}
	}
	return done
}

func (d data) run(r *renderer, _ *scope) signal {
	r.write(string(d))
	return done
}

func (o output) run(r *renderer, s *scope) signal {
	r.line = o.line
	r.write(textOf(r.eval(o.of, s)))
	return done
}

func (c conditional) run(r *renderer, s *scope) signal {
	r.line = c.line
	if truth(r.eval(c.test, s)) {
		return c.then.run(r, s)
	}
	return c.otherwise.run(r, s)
}

func (a assignment) run(r *renderer, s *scope) signal {
	r.line = a.line
	a.to.assign(r, s, r.eval(a.of, s))
	return done
}

func (a blockAssignment) run(r *renderer, s *scope) signal {
	r.line = a.line
	text, ended := r.capture(a.body.block, a.body.scope(s))
	if ended == done {
		a.to.assign(r, s, r.filterCaptured(a.filter, text, s))
	}
	return ended
}

func (f filterBlock) run(r *renderer, s *scope) signal {
	text, ended := r.capture(f.body.block, f.body.scope(s))
	if ended == done {
		r.write(textOf(r.filterCaptured(f.filter, text, s)))
	}
	return ended
}

func (w with) run(r *renderer, s *scope) signal {
	r.line = w.line
	values := evalAll(r, s, w.values)
	inner := w.body.scope(s)
	for i, to := range w.targets {
		to.assign(r, inner, values[i])
	}
	return w.body.block.run(r, inner)
}

func (j jump) run(*renderer, *scope) signal { return signal(j) }

// A target is what can be assigned to.
type target interface {
	assign(r *renderer, s *scope, v value)
}

type (
	nameTarget      string
	attributeTarget struct{ namespace, name string }
	tupleTarget     []target
)

func (t nameTarget) assign(_ *renderer, s *scope, v value) { s.vars[string(t)] = v }

func (t attributeTarget) assign(_ *renderer, s *scope, v value) {
	found, _ := s.lookup(t.namespace)
	n, ok := found.(*namespace)
	if !ok {
		fail("cannot assign attribute on non-namespace object '%s'", t.namespace)
	}
	n.vars[t.name] = v
}

func (t tupleTarget) assign(r *renderer, s *scope, v value) {
	values := slices.Clone(elements(r, v))
	if len(values) != len(t) {
		fail("%d values cannot be assigned to %d names", len(values), len(t))
	}
	for i, to := range t {
		to.assign(r, s, values[i])
	}
}
