package jinja

type repetition struct {
	line            int
	target          target
	over            expression
	test            expression // nil: every element
	body, otherwise section
}

func (f repetition) run(r *renderer, s *scope) signal {
	r.line = f.line
	items := elements(r, r.eval(f.over, s))
	if f.test != nil {
		items = f.chosen(r, s, items)
	}
	if len(items) == 0 {
		return f.otherwise.run(r, s)
	}
	l := &loop{items: items}
	for i, v := range items {
		r.charge(scopeCost)
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

func (f repetition) chosen(r *renderer, s *scope, items list) list {
	var chosen list
	for _, v := range items {
		r.charge(scopeCost)
		inner := s.inner()
		f.target.assign(r, inner, v)
		if truth(r.eval(f.test, inner)) {
			chosen = append(chosen, v)
		}
	}
	return chosen
}

// A loop is what the variable loop shows of a loop.
type loop struct {
	items   list
	index   int
	changed list // the arguments of the last call of loop.changed; nil before
}

func (l *loop) attribute(name string) (value, bool) {
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
		return function{"cycle", func(_ *renderer, a *arguments) value {
			if len(a.positional) == 0 {
				fail("no items for cycling given")
			}
			return a.at(l.index % len(a.positional))
		}}, true
	case "changed":
		return function{"changed", func(r *renderer, a *arguments) value { return l.isChanged(r, a.positional) }}, true
	case "depth", "depth0":
		fail("loop.%s is not supported", name)
	}
	return nil, false
}

func (l *loop) at(i int, missing string) value {
	if i < 0 || i >= len(l.items) {
		return undefined{missing}
	}
	return l.items[i]
}

func (l *loop) isChanged(r *renderer, v list) bool {
	if l.changed != nil && r.equal(l.changed, v) {
		return false
	}
	l.changed = append(list{}, v...)
	return true
}
