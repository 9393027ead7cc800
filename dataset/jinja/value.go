package jinja

import (
	"strings"
	"unicode/utf8"
)

// A value is the result of an expression: nil for None, a bool, int, float64 or
// string, or one of the types below. Only a namespace and a generator ever change.
type value = any

type (
	list  []value
	tuple []value

	// markup is a string marked as safe; plain strings that join it are escaped.
	markup string

	// undefined is the value of a missing name or attribute. It may be printed and
	// tested; name says what is missing.
	undefined struct{ name string }

	// A view is the result of a dict's keys, values or items.
	view struct {
		kind  string
		items list
	}

	// A generator can be iterated once.
	generator struct{ rest list }

	// A span is the result of range.
	span struct{ start, stop, step int }

	// A namespace holds variables that a template sets across scopes.
	namespace struct{ vars map[string]value }

	// A function may be called; name is for messages.
	function struct {
		name string
		call func(r *renderer, a *arguments) value
	}
)

func (s span) len() int {
	switch {
	case s.step > 0 && s.start < s.stop:
		return (s.stop-s.start-1)/s.step + 1
	case s.step < 0 && s.start > s.stop:
		return (s.start-s.stop-1)/-s.step + 1
	}
	return 0
}

// typeName is Python's name of v's type.
func typeName(v value) string {
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
	case list:
		return "list"
	case tuple:
		return "tuple"
	case *dict:
		return "dict"
	case markup:
		return "Markup"
	case span:
		return "range"
	case undefined:
		return "Undefined"
	case *generator:
		return "generator"
	}
	return "object"
}

// truth is Python's bool(v).
func truth(v value) bool {
	switch v := v.(type) {
	case nil, undefined:
		return false
	case bool:
		return v
	case int:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case markup:
		return v != ""
	case list:
		return len(v) > 0
	case tuple:
		return len(v) > 0
	case *dict:
		return len(v.keys) > 0
	case view:
		return len(v.items) > 0
	case span:
		return v.len() > 0
	}
	return true
}

// length is Python's len(v).
func length(v value) int {
	switch v := v.(type) {
	case undefined:
		return 0
	case string:
		return utf8.RuneCountInString(v)
	case markup:
		return utf8.RuneCountInString(string(v))
	case list:
		return len(v)
	case tuple:
		return len(v)
	case *dict:
		return len(v.keys)
	case view:
		return len(v.items)
	case span:
		return v.len()
	}
	fail("object of type '%s' has no len()", typeName(v))
	return 0
}

// elements are the elements of v. They use up a generator.
func elements(r *renderer, v value) list {
	switch v := v.(type) {
	case undefined:
		return nil
	case list:
		return v
	case tuple:
		return list(v)
	case *dict:
		return v.keys
	case view:
		return v.items
	case string:
		r.charge(len(v) * 16)
		chars := make(list, 0, len(v))
		for i, c := range v {
			chars = append(chars, v[i:i+utf8.RuneLen(c)])
		}
		return chars
	case span:
		r.charge(v.len())
		numbers := make(list, v.len())
		for i := range numbers {
			numbers[i] = v.start + i*v.step
		}
		return numbers
	case *generator:
		rest := v.rest
		v.rest = nil
		return rest
	}
	fail("'%s' object is not iterable", typeName(v))
	return nil
}

// textOf is Python's str(v).
func textOf(v value) string {
	switch v := v.(type) {
	case string:
		return v
	case markup:
		return string(v)
	case undefined:
		return ""
	}
	return repr(v)
}

// str is v, which must be a plain string; what names its user in the message.
func str(v value, what string) string {
	s, ok := v.(string)
	if !ok {
		fail("%s: a string is needed, not '%s'", what, typeName(v))
	}
	return s
}

// integer is v, which must be an int or a bool; what names its user in the message.
func integer(v value, what string) int {
	switch v := v.(type) {
	case int:
		return v
	case bool:
		if v {
			return 1
		}
		return 0
	}
	fail("%s: an integer is needed, not '%s'", what, typeName(v))
	return 0
}

var htmlEscapes = strings.NewReplacer("&", "&amp;", ">", "&gt;", "<", "&lt;", "'", "&#39;", `"`, "&#34;")
