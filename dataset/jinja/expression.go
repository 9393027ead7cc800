package jinja

import (
	"slices"
	"strings"
)

// An expression is a node of the tree that a template is parsed into.
type expression interface {
	eval(r *renderer, s *scope) value
}

type (
	constant     struct{ value value }
	variable     struct{ name string }
	sequence     struct{ items []expression }
	tupleLiteral struct{ items []expression }
	dictLiteral  struct{ keys, values []expression }
	negation     struct{ operand expression }
	disjunction  struct{ left, right expression }
	conjunction  struct{ left, right expression }
	signed       struct {
		minus   bool
		operand expression
	}
	operation struct {
		op          string
		left, right expression
	}
	concatenation struct{ parts []expression }
	comparison    struct {
		first    expression
		ops      []string
		operands []expression
	}
	choice struct{ test, then, otherwise expression } // otherwise may be nil
	member struct {
		of   expression
		name string
	}
	element  struct{ of, key expression }
	subrange struct{ of, start, stop, step expression } // nil where left out
	call     struct {
		line      int
		function  expression
		arguments argumentList
	}
	filtered struct {
		line      int
		name      string
		of        expression
		arguments argumentList
	}
	tested struct {
		line      int
		name      string
		of        expression
		arguments argumentList
	}
)

// An argumentList is how a call spells its arguments.
type argumentList struct {
	positional []expression
	names      []string
	keywords   []expression
	rest       expression // after *; may be nil
	restNamed  expression // after **; may be nil
}

func (e constant) eval(*renderer, *scope) value { return e.value }

func (e variable) eval(_ *renderer, s *scope) value {
	if v, ok := s.lookup(e.name); ok {
		return v
	}
	return undefined{"'" + e.name + "' is undefined"}
}

func evalAll(r *renderer, s *scope, items []expression) list {
	values := make(list, len(items))
	for i, e := range items {
		values[i] = r.eval(e, s)
	}
	return values
}

func (e sequence) eval(r *renderer, s *scope) value     { return evalAll(r, s, e.items) }
func (e tupleLiteral) eval(r *renderer, s *scope) value { return tuple(evalAll(r, s, e.items)) }

func (e dictLiteral) eval(r *renderer, s *scope) value {
	d := newDict()
	for i, key := range e.keys {
		d.set(r.eval(key, s), r.eval(e.values[i], s))
	}
	return d
}

func (e negation) eval(r *renderer, s *scope) value { return !truth(r.eval(e.operand, s)) }

func (e disjunction) eval(r *renderer, s *scope) value {
	if left := r.eval(e.left, s); truth(left) {
		return left
	}
	return r.eval(e.right, s)
}

func (e conjunction) eval(r *renderer, s *scope) value {
	if left := r.eval(e.left, s); !truth(left) {
		return left
	}
	return r.eval(e.right, s)
}

func (e signed) eval(r *renderer, s *scope) value {
	operand := r.eval(e.operand, s)
	if f, ok := operand.(float64); ok {
		if e.minus {
			return -f
		}
		return f
	}
	if u, ok := operand.(undefined); ok {
		fail("%s", u)
	}
	n := integer(operand, "a sign")
	if e.minus {
		return integerOperation("-", 0, n)
	}
	return n
}

func (e operation) eval(r *renderer, s *scope) value {
	return r.binary(e.op, r.eval(e.left, s), r.eval(e.right, s))
}

func (e concatenation) eval(r *renderer, s *scope) value {
	var b strings.Builder
	for _, part := range e.parts {
		text := textOf(r.eval(part, s))
		r.charge(len(text))
		b.WriteString(text)
	}
	return b.String()
}

func (e comparison) eval(r *renderer, s *scope) value {
	left := r.eval(e.first, s)
	for i, op := range e.ops {
		right := r.eval(e.operands[i], s)
		if !holds(r, op, left, right) {
			return false
		}
		left = right
	}
	return true
}

func holds(r *renderer, op string, left, right value) bool {
	switch op {
	case "==":
		return r.equal(left, right)
	case "!=":
		return !r.equal(left, right)
	case "in":
		return contains(r, right, left)
	case "not in":
		return !contains(r, right, left)
	}
	order, ordered := r.compare(left, right)
	switch op {
	case "<":
		return ordered && order < 0
	case "<=":
		return ordered && order <= 0
	case ">":
		return ordered && order > 0
	}
	return ordered && order >= 0
}

func (e choice) eval(r *renderer, s *scope) value {
	if truth(r.eval(e.test, s)) {
		return r.eval(e.then, s)
	}
	if e.otherwise == nil {
		return undefined{"the inline if-expression evaluated to false and no else section was defined"}
	}
	return r.eval(e.otherwise, s)
}

func (e member) eval(r *renderer, s *scope) value { return attribute(r, r.eval(e.of, s), e.name) }

func (e element) eval(r *renderer, s *scope) value { return item(r, r.eval(e.of, s), r.eval(e.key, s)) }

func (e subrange) eval(r *renderer, s *scope) value {
	of := r.eval(e.of, s)
	bounds := make(list, 3)
	for i, bound := range []expression{e.start, e.stop, e.step} {
		if bound != nil {
			bounds[i] = r.eval(bound, s)
		}
	}
	return slice(r, of, bounds[0], bounds[1], bounds[2])
}

func (e call) eval(r *renderer, s *scope) value {
	called := r.eval(e.function, s)
	a := e.arguments.eval(r, s)
	r.line = e.line
	return r.call(called, a)
}

func (l argumentList) eval(r *renderer, s *scope) *arguments {
	a := &arguments{positional: evalAll(r, s, l.positional), names: slices.Clone(l.names),
		keywords: evalAll(r, s, l.keywords)}
	if l.rest != nil {
		a.positional = append(a.positional, elements(r, r.eval(l.rest, s))...)
	}
	if l.restNamed == nil {
		return a
	}
	more, ok := r.eval(l.restNamed, s).(*dict)
	if !ok {
		fail("what follows ** must be a mapping")
	}
	for i, key := range more.keys {
		a.names = append(a.names, str(key, "**"))
		a.keywords = append(a.keywords, more.values[i])
	}
	return a
}

func (e filtered) eval(r *renderer, s *scope) value {
	of := r.eval(e.of, s)
	a := e.arguments.eval(r, s)
	r.line = e.line
	return r.filter(e.name, of, a)
}

func (e tested) eval(r *renderer, s *scope) value {
	of := r.eval(e.of, s)
	a := e.arguments.eval(r, s)
	r.line = e.line
	return r.test(e.name, of, a)
}
