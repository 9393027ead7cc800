package python

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Number is v as a float64, if v is an int, a bool or a float.
func Number(v Value) (f float64, isFloat, ok bool) {
	switch v := v.(type) {
	case float64:
		return v, true, true
	case int, bool:
		return float64(AsInteger(v, "number")), false, true
	}
	return 0, false, false
}

// Equal is Python's a == b.
func Equal(m *Meter, a, b Value) bool {
	m.Charge(Step)
	if x, xf, ok := Number(a); ok {
		y, yf, ok := Number(b)
		if ok && !xf && !yf {
			return AsInteger(a, "==") == AsInteger(b, "==")
		}
		return ok && x == y
	}
	switch a := a.(type) {
	case nil:
		return b == nil
	case Undefined:
		_, ok := b.(Undefined)
		return ok
	case string, Markup:
		return IsText(b) && Text(a) == Text(b)
	case List:
		other, ok := b.(List)
		return ok && slices.EqualFunc(a, other, func(x, y Value) bool { return Equal(m, x, y) })
	case Tuple:
		other, ok := b.(Tuple)
		return ok && slices.EqualFunc(a, other, func(x, y Value) bool { return Equal(m, x, y) })
	case *Dict:
		other, ok := b.(*Dict)
		return ok && equalDicts(m, a, other)
	case *Namespace:
		return a == b
	}
	Raise("comparing '%s' with '%s' is not supported", TypeName(a), TypeName(b))
	return false
}

// IsText reports whether v is a string, safe or not.
func IsText(v Value) bool {
	switch v.(type) {
	case string, Markup:
		return true
	}
	return false
}

func equalDicts(m *Meter, a, b *Dict) bool {
	if len(a.keys) != len(b.keys) {
		return false
	}
	for i, key := range a.keys {
		if other, ok := b.Lookup(key); !ok || !Equal(m, a.values[i], other) {
			return false
		}
	}
	return true
}

// Compare orders numbers, strings, and lists of them; ordered is false for NaN.
func Compare(m *Meter, a, b Value) (order int, ordered bool) {
	m.Charge(Step)
	x, xf, xok := Number(a)
	y, yf, yok := Number(b)
	switch {
	case xok && yok && !xf && !yf:
		return cmp.Compare(AsInteger(a, "<"), AsInteger(b, "<")), true
	case xok && yok:
		return cmp.Compare(x, y), !math.IsNaN(x) && !math.IsNaN(y)
	case IsText(a) && IsText(b):
		return strings.Compare(Text(a), Text(b)), true
	}
	switch a := a.(type) {
	case List:
		if b, ok := b.(List); ok {
			return compareItems(m, a, b)
		}
	case Tuple:
		if b, ok := b.(Tuple); ok {
			return compareItems(m, List(a), List(b))
		}
	case Undefined:
		Raise("%s", a)
	}
	Raise("'<' or '>' is not supported between '%s' and '%s'", TypeName(a), TypeName(b))
	return 0, false
}

func compareItems(m *Meter, a, b List) (order int, ordered bool) {
	for i := range min(len(a), len(b)) {
		if !Equal(m, a[i], b[i]) {
			return Compare(m, a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b)), true
}

// contains is Python's item in v.
func contains(m *Meter, v, item Value) bool {
	switch v := v.(type) {
	case string, Markup:
		if !IsText(item) {
			Raise("'in <string>' requires string as left operand, not %s", TypeName(item))
		}
		return strings.Contains(Text(v), Text(item))
	case *Dict:
		_, ok := v.Lookup(item)
		return ok
	}
	items := Elements(m, v)
	for _, other := range items {
		m.Charge(Step)
		if Equal(m, other, item) {
			return true
		}
	}
	return false
}

// Holds reports whether left op right, for an operator that compares.
func Holds(m *Meter, op string, left, right Value) bool {
	switch op {
	case "==":
		return Equal(m, left, right)
	case "!=":
		return !Equal(m, left, right)
	case "in":
		return contains(m, right, left)
	case "not in":
		return !contains(m, right, left)
	}
	order, ordered := Compare(m, left, right)
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

// Binary is a op b.
func Binary(m *Meter, op string, a, b Value) Value {
	for _, v := range []Value{a, b} {
		if u, ok := v.(Undefined); ok && op != "%" {
			Raise("%s", u)
		}
	}
	switch {
	case op == "+" && !IsNumber(a):
		return joined(m, a, b)
	case op == "*" && IsNumber(a) != IsNumber(b):
		return repeated(m, a, b)
	case op == "%" && IsText(a):
		return percent(m, AsString(a, "%"), b)
	}
	x, xf, xok := Number(a)
	y, yf, yok := Number(b)
	if !xok || !yok {
		Raise("unsupported operand types for %s: '%s' and '%s'", op, TypeName(a), TypeName(b))
	}
	if op != "/" && !xf && !yf {
		return integerOperation(op, AsInteger(a, op), AsInteger(b, op))
	}
	return floatOperation(op, x, y)
}

// IsNumber reports whether v is an int, a bool or a float.
func IsNumber(v Value) bool {
	_, _, ok := Number(v)
	return ok
}

func floatOperation(op string, x, y float64) Value {
	if y == 0 && (op == "/" || op == "//" || op == "%") {
		Raise("division by zero")
	}
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "/":
		return x / y
	}
	Raise("%s of floats is not supported", op)
	return nil
}

func integerOperation(op string, x, y int) Value {
	switch op {
	case "+":
		if sum := x + y; (sum > x) == (y > 0) {
			return sum
		}
	case "-":
		if difference := x - y; (difference < x) == (y > 0) {
			return difference
		}
	case "*":
		if x == 0 || y == 0 {
			return 0
		}
		if product := x * y; product/y == x && !(x == -1 && y == math.MinInt) && !(y == -1 && x == math.MinInt) {
			return product
		}
	case "**":
		return power(x, y)
	default:
		return floorOperation(op, x, y)
	}
	Raise("the result of %d %s %d is too large", x, op, y)
	return nil
}

// floorOperation is x // y or x % y: the quotient is rounded down.
func floorOperation(op string, x, y int) Value {
	rest := Modulo(x, y)
	switch {
	case op != "//":
		return rest
	case rest != x%y:
		return x/y - 1
	}
	return x / y
}

// Modulo is Python's x % y, which has the sign of y.
func Modulo(x, y int) int {
	if y == 0 {
		Raise("integer division or modulo by zero")
	}
	rest := x % y
	if rest != 0 && (rest < 0) != (y < 0) {
		rest += y
	}
	return rest
}

func power(x, y int) Value {
	if y < 0 {
		Raise("negative powers are not supported")
	}
	var product Value = 1
	for range y {
		product = integerOperation("*", product.(int), x)
		if x == 0 || x == 1 {
			break
		}
		if x == -1 {
			return 1 - 2*(y%2)
		}
	}
	return product
}

// joined is a + b, for strings and sequences.
func joined(m *Meter, a, b Value) Value {
	switch x := a.(type) {
	case string:
		switch y := b.(type) {
		case string:
			m.Charge(len(x) + len(y))
			return x + y
		case Markup:
			return Escaped(m, x) + y
		}
	case Markup:
		switch y := b.(type) {
		case string:
			return x + Escaped(m, y)
		case Markup:
			m.Charge(len(x) + len(y))
			return x + y
		}
	case List:
		if y, ok := b.(List); ok {
			m.Charge(16 * (len(x) + len(y)))
			return slices.Concat(x, y)
		}
	case Tuple:
		if y, ok := b.(Tuple); ok {
			m.Charge(16 * (len(x) + len(y)))
			return slices.Concat(x, y)
		}
	}
	Raise("'%s' and '%s' cannot be added", TypeName(a), TypeName(b))
	return nil
}

// Escaped is s with HTML's special characters escaped.
func Escaped(m *Meter, s string) Markup {
	m.Charge(5 * len(s))
	return Markup(htmlEscapes.Replace(s))
}

// repeated is a * b, for a sequence and a number in either order.
func repeated(m *Meter, a, b Value) Value {
	if IsNumber(a) {
		a, b = b, a
	}
	n := max(AsInteger(b, "*"), 0)
	switch a := a.(type) {
	case string:
		m.chargeProduct(len(a), n)
		return strings.Repeat(a, n)
	case List:
		m.chargeProduct(16*len(a), n)
		return slices.Repeat(a, n)
	}
	Raise("'%s' cannot be multiplied", TypeName(a))
	return nil
}
