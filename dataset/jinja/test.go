package jinja

// test reports whether v passes the test of that name.
func (r *renderer) test(name string, v value, a *arguments) bool {
	if test, ok := plainTests[name]; ok {
		a.expect("the test "+name, 0, 0)
		return test(v)
	}
	if op, ok := comparingTests[name]; ok {
		return holds(r, op, v, a.only("the test "+name))
	}
	switch name {
	case "divisibleby":
		return floorOperation("%", integer(v, name), integer(a.only(name), name)) == 0
	case "sameas":
		return same(v, a.only(name))
	}
	fail("the test %s is not supported", name)
	return false
}

var comparingTests = map[string]string{
	"==": "==", "eq": "==", "equalto": "==", "!=": "!=", "ne": "!=",
	"<": "<", "lt": "<", "lessthan": "<", "<=": "<=", "le": "<=",
	">": ">", "gt": ">", "greaterthan": ">", ">=": ">=", "ge": ">=", "in": "in",
}

var plainTests = map[string]func(v value) bool{
	"defined":   isDefined,
	"undefined": func(v value) bool { return !isDefined(v) },
	"none":      func(v value) bool { return v == nil },
	"boolean":   func(v value) bool { _, ok := v.(bool); return ok },
	"true":      func(v value) bool { b, ok := v.(bool); return ok && b },
	"false":     func(v value) bool { b, ok := v.(bool); return ok && !b },
	"string":    isText,
	"number":    isNumber,
	"integer":   func(v value) bool { _, ok := v.(int); return ok },
	"float":     func(v value) bool { _, ok := v.(float64); return ok },
	"mapping":   func(v value) bool { _, ok := v.(*dict); return ok },
	"iterable":  isIterable,
	"sequence":  isSequence,
	"callable":  isCallable,
	"odd":       func(v value) bool { return floorOperation("%", integer(v, "odd"), 2) == 1 },
	"even":      func(v value) bool { return floorOperation("%", integer(v, "even"), 2) == 0 },
	"lower":     func(v value) bool { return cased(textOf(v), isLower, isUpper).(bool) },
	"upper":     func(v value) bool { return cased(textOf(v), isUpper, isLower).(bool) },
	"escaped":   func(v value) bool { _, ok := v.(markup); return ok },
}

func isDefined(v value) bool {
	_, isUndefined := v.(undefined)
	return !isUndefined
}

func isSequence(v value) bool {
	switch v.(type) {
	case string, markup, list, tuple, *dict, span, undefined:
		return true
	}
	return false
}

func isIterable(v value) bool {
	switch v.(type) {
	case view, *generator:
		return true
	}
	return isSequence(v)
}

func isCallable(v value) bool {
	switch v.(type) {
	case function, *macro, undefined, *loop:
		return true
	}
	return false
}

// same is Python's v is other, for None, True and False. It refuses other values:
// there it depends on where Python stores them.
func same(v, other value) bool {
	switch v.(type) {
	case nil, bool:
		return v == other
	}
	switch other.(type) {
	case nil, bool:
		return false
	}
	fail("sameas of '%s' is not supported", typeName(v))
	return false
}
