// Package python has the values of Python that a chat template can compute with, and what Python does
// with them: operators, attributes and items, the methods of str, list and dict, repr and JSON.
//
// A result is Python's, to the byte. What this package cannot do exactly it refuses: it raises an
// exception, as Python itself does for a mistake of the program. An exception is a panic, so call this
// package below Try, which makes an error of it. What takes time or memory charges a Meter, because the
// program is a stranger's.
package python

import (
	"strings"
	"unicode/utf8"
)

// A Value is what an expression can be: nil for None, a bool, int, float64 or
// string, or one of the types below. Only a namespace and a generator ever change.
type Value = any

type (
	// A List is a list of Python. It never changes.
	List []Value

	// A Tuple is a tuple of Python.
	Tuple []Value

	// Markup is a string marked as safe; plain strings that join it are escaped.
	Markup string

	// Undefined is the value of a missing name or attribute: it says what is missing. It may be
	// printed and tested.
	Undefined string

	// A view is the result of a dict's keys, values or items.
	view struct {
		kind  string
		items List
	}

	// A Function is a callable of Go.
	Function func(m *Meter, a *Arguments) Value
)

// An object is a value with attributes that are not Python's.
type object interface {
	Attribute(name string) (Value, bool)
}

// A Callable is a value that may be called.
type Callable interface {
	// Call is the result of the call.
	Call(m *Meter, a *Arguments) Value
}

// Call calls the function.
func (f Function) Call(m *Meter, a *Arguments) Value { return f(m, a) }

// Call is the result of v(a).
func Call(m *Meter, v Value, a *Arguments) Value {
	switch v := v.(type) {
	case Callable:
		return v.Call(m, a)
	case Undefined:
		Raise("%s", v)
	}
	FailUncallable(v)
	return nil
}

// FailUncallable raises the exception for a call of v.
func FailUncallable(v Value) { Raise("'%s' object is not callable", TypeName(v)) }

// TypeName is Python's name of v's type.
func TypeName(v Value) string {
	switch v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case List:
		return "list"
	case Tuple:
		return "tuple"
	case *Dict:
		return "dict"
	case Markup:
		return "Markup"
	case span:
		return "range"
	case Undefined:
		return "Undefined"
	case *Generator:
		return "generator"
	}
	return "object"
}

// Truth is Python's bool(v).
func Truth(v Value) bool {
	switch v := v.(type) {
	case nil, Undefined:
		return false
	case bool:
		return v
	case int:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case Markup:
		return v != ""
	case List:
		return len(v) > 0
	case Tuple:
		return len(v) > 0
	case *Dict:
		return len(v.keys) > 0
	case view:
		return len(v.items) > 0
	case span:
		return v.len() > 0
	}
	return true
}

// Len is Python's len(v).
func Len(v Value) int {
	switch v := v.(type) {
	case Undefined:
		return 0
	case string:
		return utf8.RuneCountInString(v)
	case Markup:
		return utf8.RuneCountInString(string(v))
	case List:
		return len(v)
	case Tuple:
		return len(v)
	case *Dict:
		return len(v.keys)
	case view:
		return len(v.items)
	case span:
		return v.len()
	}
	Raise("object of type '%s' has no len()", TypeName(v))
	return 0
}

// Elements are the elements of v. They use up a generator.
func Elements(m *Meter, v Value) List {
	switch v := v.(type) {
	case Undefined:
		return nil
	case List:
		return v
	case Tuple:
		return List(v)
	case *Dict:
		return v.keys
	case view:
		return v.items
	case string:
		m.Charge(len(v) * 16)
		chars := make(List, 0, len(v))
		for i, c := range v {
			chars = append(chars, v[i:i+utf8.RuneLen(c)])
		}
		return chars
	case span:
		m.Charge(v.len())
		numbers := make(List, v.len())
		for i := range numbers {
			numbers[i] = v.start + i*v.step
		}
		return numbers
	case *Generator:
		return v.all()
	}
	Raise("'%s' object is not iterable", TypeName(v))
	return nil
}

// Text is Python's str(v).
func Text(v Value) string {
	switch v := v.(type) {
	case string:
		return v
	case Markup:
		return string(v)
	case Undefined:
		return ""
	}
	return repr(v)
}

// AsString is v, which must be a plain string; what names its user in the message.
func AsString(v Value, what string) string {
	s, ok := v.(string)
	if !ok {
		Raise("%s: a string is needed, not '%s'", what, TypeName(v))
	}
	return s
}

// AsInteger is v, which must be an int or a bool; what names its user in the message.
func AsInteger(v Value, what string) int {
	switch v := v.(type) {
	case int:
		return v
	case bool:
		if v {
			return 1
		}
		return 0
	}
	Raise("%s: an integer is needed, not '%s'", what, TypeName(v))
	return 0
}

var htmlEscapes = strings.NewReplacer("&", "&amp;", ">", "&gt;", "<", "&lt;", "'", "&#39;", `"`, "&#34;")

// IsSequence reports whether v has a length and an order, or is undefined.
func IsSequence(v Value) bool {
	switch v.(type) {
	case string, Markup, List, Tuple, *Dict, span, Undefined:
		return true
	}
	return false
}

// IsIterable reports whether Elements accepts v, or v is safe text.
func IsIterable(v Value) bool {
	switch v.(type) {
	case view, *Generator:
		return true
	}
	return IsSequence(v)
}
