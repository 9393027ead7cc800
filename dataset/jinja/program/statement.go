package program

import (
	"slices"

	"github.com/servebench/servebench/dataset/jinja/python"
)

// A signal is how a statement ended: at its end, or by a jump of the loop around it.
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

// capturedName is the variable that holds the text of a block for its filters. No
// template can name it.
const capturedName = "captured text"

// scopeCost is the charge for a scope, see python.Meter.
const scopeCost = 256

func (b block) run(r *renderer, s *scope) signal {
	for _, statement := range b {
		r.meter.Charge(python.Step)
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
	r.write(python.Text(r.eval(o.of, s)))
	return done
}

func (c conditional) run(r *renderer, s *scope) signal {
	r.line = c.line
	if python.Truth(r.eval(c.test, s)) {
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
		r.write(python.Text(r.filterCaptured(f.filter, text, s)))
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

// A target is the left side of an assignment.
type target interface {
	assign(r *renderer, s *scope, v python.Value)
}

type (
	nameTarget      string
	attributeTarget struct{ namespace, name string }
	tupleTarget     []target
)

func (t nameTarget) assign(_ *renderer, s *scope, v python.Value) { s.vars[string(t)] = v }

func (t attributeTarget) assign(_ *renderer, s *scope, v python.Value) {
	found, _ := s.lookup(t.namespace)
	n, ok := found.(*python.Namespace)
	if !ok {
		python.Raise("cannot assign attribute on non-namespace object '%s'", t.namespace)
	}
	n.Assign(t.name, v)
}

func (t tupleTarget) assign(r *renderer, s *scope, v python.Value) {
	values := slices.Clone(python.Elements(r.meter, v))
	if len(values) != len(t) {
		python.Raise("%d values cannot be assigned to %d names", len(values), len(t))
	}
	for i, to := range t {
		to.assign(r, s, values[i])
	}
}

type repetition struct {
	line            int
	target          target
	over            expression
	test            expression // nil: every element
	body, otherwise section
}

func (f repetition) run(r *renderer, s *scope) signal {
	r.line = f.line
	items := python.Elements(r.meter, r.eval(f.over, s))
	if f.test != nil {
		items = f.chosen(r, s, items)
	}
	if len(items) == 0 {
		return f.otherwise.run(r, s)
	}
	l := &loop{items: items}
	for i, v := range items {
		r.meter.Charge(scopeCost)
		l.index = i
		inner := f.body.scope(s)
		inner.vars["loop"] = l
		f.target.assign(r, inner, v)
		if f.body.block.run(r, inner) == broken {
			break
		}
	}
	return done
}

func (f repetition) chosen(r *renderer, s *scope, items python.List) python.List {
	var chosen python.List
	for _, v := range items {
		r.meter.Charge(scopeCost)
		inner := s.inner()
		f.target.assign(r, inner, v)
		if python.Truth(r.eval(f.test, inner)) {
			chosen = append(chosen, v)
		}
	}
	return chosen
}

// A loop is the value of the variable loop.
type loop struct {
	items   python.List
	index   int
	changed python.List // the arguments of the last call of loop.changed; nil before
}

// Attribute is loop.name.
func (l *loop) Attribute(name string) (python.Value, bool) {
	n := len(l.items)
	switch name {
	case "index":
		return l.index + 1, true
	case "index0":
		return l.index, true
	case "revindex":
		return n - l.index, true
	case "revindex0":
		return n - l.index - 1, true
	case "first":
		return l.index == 0, true
	case "last":
		return l.index == n-1, true
	case "length":
		return n, true
	case "previtem":
		return l.at(l.index-1, "there is no previous item"), true
	case "nextitem":
		return l.at(l.index+1, "there is no next item"), true
	case "cycle":
		return python.Function(func(_ *python.Meter, a *python.Arguments) python.Value {
			if len(a.Positional) == 0 {
				python.Raise("no items for cycling given")
			}
			return a.At(l.index % len(a.Positional))
		}), true
	case "changed":
		return python.Function(l.isChanged), true
	case "depth", "depth0":
		python.Raise("loop.%s is not supported", name)
	}
	return nil, false
}

// Call refuses: only recursive loops can be called.
func (l *loop) Call(*python.Meter, *python.Arguments) python.Value {
	python.FailUncallable(l)
	return nil
}

func (l *loop) at(i int, missing string) python.Value {
	if i < 0 || i >= len(l.items) {
		return python.Undefined(missing)
	}
	return l.items[i]
}

func (l *loop) isChanged(m *python.Meter, a *python.Arguments) python.Value {
	if l.changed != nil && python.Equal(m, l.changed, a.Positional) {
		return false
	}
	l.changed = append(python.List{}, a.Positional...)
	return true
}
