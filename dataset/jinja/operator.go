package jinja

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// number is v as a float64, if v is an int, a bool or a float.
func number(v value) (f float64, isFloat, ok bool) {
	switch v := v.(type) {
	case float64:
		return v, true, true
	case int, bool:
		return float64(integer(v, "number")), false, true
	}
	return 0, false, false
}

// equal is Python's a == b.
func (r *renderer) equal(a, b value) bool {
	r.charge(step)
	if x, xf, ok := number(a); ok {
		y, yf, ok := number(b)
		if ok && !xf && !yf {
			return integer(a, "==") == integer(b, "==")
		}
		return ok && x == y
	}
	switch a := a.(type) {
	case nil:
		return b == nil
	case undefined:
		_, ok := b.(undefined)
		return ok
	case string, markup:
		return isText(b) && textOf(a) == textOf(b)
	case list:
		other, ok := b.(list)
		return ok && slices.EqualFunc(a, other, r.equal)
	case tuple:
		other, ok := b.(tuple)
		return ok && slices.EqualFunc(a, other, r.equal)
	case *dict:
		other, ok := b.(*dict)
		return ok && r.equalDicts(a, other)
	case *namespace:
		return a == b
	}
	fail("comparing '%s' with '%s' is not supported", typeName(a), typeName(b))
	return false
}

func isText(v value) bool {
	switch v.(type) {
	case string, markup:
		return true
	}
	return false
}

func (r *renderer) equalDicts(a, b *dict) bool {
	if len(a.keys) != len(b.keys) {
		return false
	}
	for i, key := range a.keys {
		if other, ok := b.lookup(key); !ok || !r.equal(a.values[i], other) {
			return false
		}
	}
	return true
}

// compare orders numbers, strings, and lists of them; ordered is false for NaN.
func (r *renderer) compare(a, b value) (order int, ordered bool) {
	r.charge(step)
	x, xf, xok := number(a)
	y, yf, yok := number(b)
	switch {
	case xok && yok && !xf && !yf:
		return cmp.Compare(integer(a, "<"), integer(b, "<")), true
	case xok && yok:
		return cmp.Compare(x, y), !math.IsNaN(x) && !math.IsNaN(y)
	case isText(a) && isText(b):
		return strings.Compare(textOf(a), textOf(b)), true
	}
	switch a := a.(type) {
	case list:
		if b, ok := b.(list); ok {
			return r.compareItems(a, b)
		}
	case tuple:
		if b, ok := b.(tuple); ok {
			return r.compareItems(list(a), list(b))
		}
	case undefined:
		fail("%s", a)
	}
	fail("'<' or '>' is not supported between '%s' and '%s'", typeName(a), typeName(b))
	return 0, false
}

func (r *renderer) compareItems(a, b list) (order int, ordered bool) {
	for i := range min(len(a), len(b)) {
		if !r.equal(a[i], b[i]) {
			return r.compare(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b)), true
}

// contains is Python's item in v.
func contains(r *renderer, v, item value) bool {
	switch v := v.(type) {
	case string, markup:
		if !isText(item) {
			fail("'in <string>' requires string as left operand, not %s", typeName(item))
		}
		return strings.Contains(textOf(v), textOf(item))
	case *dict:
		_, ok := v.lookup(item)
		return ok
	}
	items := elements(r, v)
	for _, other := range items {
		r.charge(step)
		if r.equal(other, item) {
			return true
		}
	}
	return false
}

// binary is a op b.
func (r *renderer) binary(op string, a, b value) value {
	for _, v := range []value{a, b} {
		if u, ok := v.(undefined); ok && op != "%" {
			fail("%s", u)
		}
	}
	switch {
	case op == "+" && !isNumber(a):
		return r.joined(a, b)
	case op == "*" && isNumber(a) != isNumber(b):
		return r.repeated(a, b)
	case op == "%" && isText(a):
		return r.percent(str(a, "%"), b)
	}
	x, xf, xok := number(a)
	y, yf, yok := number(b)
	if !xok || !yok {
		fail("unsupported operand types for %s: '%s' and '%s'", op, typeName(a), typeName(b))
	}
	if op != "/" && !xf && !yf {
		return integerOperation(op, integer(a, op), integer(b, op))
	}
	return floatOperation(op, x, y)
}

func isNumber(v value) bool {
	_, _, ok := number(v)
	return ok
}

func floatOperation(op string, x, y float64) value {
	if y == 0 && (op == "/" || op == "//" || op == "%") {
		fail("division by zero")
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
	fail("%s of floats is not supported", op)
	return nil
}

func integerOperation(op string, x, y int) value {
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
	fail("the result of %d %s %d is too large", x, op, y)
	return nil
}

// floorOperation is x // y or x % y: the quotient is rounded down.
func floorOperation(op string, x, y int) value {
	if y == 0 {
		fail("integer division or modulo by zero")
	}
	quotient, rest := x/y, x%y
	if rest != 0 && (rest < 0) != (y < 0) {
		quotient, rest = quotient-1, rest+y
	}
	if op == "//" {
		return quotient
	}
	return rest
}

func power(x, y int) value {
	if y < 0 {
		fail("negative powers are not supported")
	}
	var product value = 1
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
func (r *renderer) joined(a, b value) value {
	switch x := a.(type) {
	case string:
		switch y := b.(type) {
		case string:
			r.charge(len(x) + len(y))
			return x + y
		case markup:
			return r.escaped(x) + y
		}
	case markup:
		switch y := b.(type) {
		case string:
			return x + r.escaped(y)
		case markup:
			r.charge(len(x) + len(y))
			return x + y
		}
	case list:
		if y, ok := b.(list); ok {
			r.charge(16 * (len(x) + len(y)))
			return slices.Concat(x, y)
		}
	case tuple:
		if y, ok := b.(tuple); ok {
			r.charge(16 * (len(x) + len(y)))
			return slices.Concat(x, y)
		}
	}
	fail("'%s' and '%s' cannot be added", typeName(a), typeName(b))
	return nil
}

func (r *renderer) escaped(s string) markup {
	r.charge(5 * len(s))
	return markup(htmlEscapes.Replace(s))
}

// repeated is a * b, for a sequence and a number in either order.
func (r *renderer) repeated(a, b value) value {
	if isNumber(a) {
		a, b = b, a
	}
	n := max(integer(b, "*"), 0)
	switch a := a.(type) {
	case string:
		r.chargeProduct(len(a), n)
		return strings.Repeat(a, n)
	case list:
		r.chargeProduct(16*len(a), n)
		return slices.Repeat(a, n)
	}
	fail("'%s' cannot be multiplied", typeName(a))
	return nil
}
