package builtin

import "github.com/servebench/servebench/dataset/jinja/python"

// Test reports whether v is name(a).
func Test(m *python.Meter, name string, v python.Value, a *python.Arguments) bool {
	if test, ok := plainTests[name]; ok {
		a.Expect("the test "+name, 0, 0)
		return test(v)
	}
	if op, ok := comparingTests[name]; ok {
		return python.Holds(m, op, v, a.Only("the test "+name))
	}
	switch name {
	case "divisibleby":
		return python.Modulo(python.AsInteger(v, name), python.AsInteger(a.Only(name), name)) == 0
	case "sameas":
		return same(v, a.Only(name))
	}
	python.Raise("the test %s is not supported", name)
	return false
}

var comparingTests = map[string]string{
	"==": "==", "eq": "==", "equalto": "==", "!=": "!=", "ne": "!=",
	"<": "<", "lt": "<", "lessthan": "<", "<=": "<=", "le": "<=",
	">": ">", "gt": ">", "greaterthan": ">", ">=": ">=", "ge": ">=", "in": "in",
}

var plainTests = map[string]func(v python.Value) bool{
	"defined":   isDefined,
	"undefined": func(v python.Value) bool { return !isDefined(v) },
	"none":      func(v python.Value) bool { return v == nil },
	"boolean":   func(v python.Value) bool { _, ok := v.(bool); return ok },
	"true":      func(v python.Value) bool { b, ok := v.(bool); return ok && b },
	"false":     func(v python.Value) bool { b, ok := v.(bool); return ok && !b },
	"string":    python.IsText,
	"number":    python.IsNumber,
	"integer":   func(v python.Value) bool { _, ok := v.(int); return ok },
	"float":     func(v python.Value) bool { _, ok := v.(float64); return ok },
	"mapping":   func(v python.Value) bool { _, ok := v.(*python.Dict); return ok },
	"iterable":  python.IsIterable,
	"sequence":  python.IsSequence,
	"callable":  isCallable,
	"odd":       func(v python.Value) bool { return python.Modulo(python.AsInteger(v, "odd"), 2) == 1 },
	"even":      func(v python.Value) bool { return python.Modulo(python.AsInteger(v, "even"), 2) == 0 },
	"lower":     func(v python.Value) bool { return python.IsLowerText(python.Text(v)) },
	"upper":     func(v python.Value) bool { return python.IsUpperText(python.Text(v)) },
	"escaped":   func(v python.Value) bool { _, ok := v.(python.Markup); return ok },
}

func isDefined(v python.Value) bool {
	_, isUndefined := v.(python.Undefined)
	return !isUndefined
}

func isCallable(v python.Value) bool {
	switch v.(type) {
	case python.Callable, python.Undefined:
		return true
	}
	return false
}

// same is Python's v is other, for None, True and False. It refuses other values:
// there it depends on where Python stores them.
func same(v, other python.Value) bool {
	switch v.(type) {
	case nil, bool:
		return v == other
	}
	switch other.(type) {
	case nil, bool:
		return false
	}
	python.Raise("sameas of '%s' is not supported", python.TypeName(v))
	return false
}
