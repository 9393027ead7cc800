package program

import (
	"slices"
	"strings"

	"github.com/servebench/servebench/dataset/jinja/builtin"
	"github.com/servebench/servebench/dataset/jinja/python"
)

// An expression is a node of the tree that a template is parsed into.
type expression interface {
	eval(r *renderer, s *scope) python.Value
}

type (
	constant     struct{ value python.Value }
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

func (e constant) eval(*renderer, *scope) python.Value { return e.value }

func (e variable) eval(_ *renderer, s *scope) python.Value {
	if v, ok := s.lookup(e.name); ok {
		return v
	}
	return python.Undefined("'" + e.name + "' is undefined")
}

func evalAll(r *renderer, s *scope, items []expression) python.List {
	values := make(python.List, len(items))
	for i, e := range items {
		values[i] = r.eval(e, s)
	}
	return values
}

func (e sequence) eval(r *renderer, s *scope) python.Value { return evalAll(r, s, e.items) }
func (e tupleLiteral) eval(r *renderer, s *scope) python.Value {
	return python.Tuple(evalAll(r, s, e.items))
}

func (e dictLiteral) eval(r *renderer, s *scope) python.Value {
	d := python.NewDict()
	for i, key := range e.keys {
		d.Set(r.eval(key, s), r.eval(e.values[i], s))
	}
	return d
}

func (e negation) eval(r *renderer, s *scope) python.Value {
	return !python.Truth(r.eval(e.operand, s))
}

func (e disjunction) eval(r *renderer, s *scope) python.Value {
	if left := r.eval(e.left, s); python.Truth(left) {
		return left
	}
	return r.eval(e.right, s)
}

func (e conjunction) eval(r *renderer, s *scope) python.Value {
	if left := r.eval(e.left, s); !python.Truth(left) {
		return left
	}
	return r.eval(e.right, s)
}

func (e signed) eval(r *renderer, s *scope) python.Value {
	operand := r.eval(e.operand, s)
	if f, ok := operand.(float64); ok {
		if e.minus {
			return -f
		}
		return f
	}
	if u, ok := operand.(python.Undefined); ok {
		python.Raise("%s", u)
	}
	n := python.AsInteger(operand, "a sign")
	if e.minus {
		return python.Binary(r.meter, "-", 0, n)
	}
	return n
}

func (e operation) eval(r *renderer, s *scope) python.Value {
	return python.Binary(r.meter, e.op, r.eval(e.left, s), r.eval(e.right, s))
}

func (e concatenation) eval(r *renderer, s *scope) python.Value {
	var b strings.Builder
	for _, part := range e.parts {
		text := python.Text(r.eval(part, s))
		r.meter.Charge(len(text))
		b.WriteString(text)
	}
	return b.String()
}

func (e comparison) eval(r *renderer, s *scope) python.Value {
	left := r.eval(e.first, s)
	for i, op := range e.ops {
		right := r.eval(e.operands[i], s)
		if !python.Holds(r.meter, op, left, right) {
			return false
		}
		left = right
	}
	return true
}

func (e choice) eval(r *renderer, s *scope) python.Value {
	if python.Truth(r.eval(e.test, s)) {
		return r.eval(e.then, s)
	}
	if e.otherwise == nil {
		return python.Undefined("the inline if-expression evaluated to false and no else section was defined")
	}
	return r.eval(e.otherwise, s)
}

func (e member) eval(r *renderer, s *scope) python.Value {
	return python.Attribute(r.meter, r.eval(e.of, s), e.name)
}

func (e element) eval(r *renderer, s *scope) python.Value {
	return python.Item(r.meter, r.eval(e.of, s), r.eval(e.key, s))
}

func (e subrange) eval(r *renderer, s *scope) python.Value {
	of := r.eval(e.of, s)
	bounds := make(python.List, 3)
	for i, bound := range []expression{e.start, e.stop, e.step} {
		if bound != nil {
			bounds[i] = r.eval(bound, s)
		}
	}
	return python.Slice(r.meter, of, bounds[0], bounds[1], bounds[2])
}

func (e call) eval(r *renderer, s *scope) python.Value {
	called := r.eval(e.function, s)
	a := e.arguments.eval(r, s)
	r.line = e.line
	return python.Call(r.meter, called, a)
}

func (l argumentList) eval(r *renderer, s *scope) *python.Arguments {
	a := &python.Arguments{Positional: evalAll(r, s, l.positional), Names: slices.Clone(l.names),
		Keywords: evalAll(r, s, l.keywords)}
	if l.rest != nil {
		a.Positional = append(a.Positional, python.Elements(r.meter, r.eval(l.rest, s))...)
	}
	if l.restNamed == nil {
		return a
	}
	more, ok := r.eval(l.restNamed, s).(*python.Dict)
	if !ok {
		python.Raise("what follows ** must be a mapping")
	}
	for key, v := range more.All() {
		a.Names = append(a.Names, python.AsString(key, "**"))
		a.Keywords = append(a.Keywords, v)
	}
	return a
}

func (e filtered) eval(r *renderer, s *scope) python.Value {
	of := r.eval(e.of, s)
	a := e.arguments.eval(r, s)
	r.line = e.line
	return builtin.Filter(r.meter, e.name, of, a)
}

func (e tested) eval(r *renderer, s *scope) python.Value {
	of := r.eval(e.of, s)
	a := e.arguments.eval(r, s)
	r.line = e.line
	return builtin.Test(r.meter, e.name, of, a)
}
