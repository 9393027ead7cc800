package jinja

import (
	"slices"
	"strings"
)

// attribute is v.name: a method of v, else its item of that name.
func attribute(r *renderer, v value, name string) value {
	if found, ok := ownAttribute(r, v, name); ok {
		return found
	}
	if d, ok := v.(*dict); ok {
		if item, ok := d.lookup(name); ok {
			return item
		}
	}
	return missing(v, name)
}

// item is v[key]: an item of v, else its attribute of that name.
func item(r *renderer, v, key value) value {
	if d, ok := v.(*dict); ok && hashable(key) {
		if found, ok := d.lookup(key); ok {
			return found
		}
	}
	if i, ok := index(key); ok {
		if found, ok := itemAt(r, v, i); ok {
			return found
		}
		return missing(v, repr(key))
	}
	if name, ok := key.(string); ok {
		if found, ok := ownAttribute(r, v, name); ok {
			return found
		}
		return missing(v, name)
	}
	return missing(v, "of that key")
}

func hashable(key value) bool {
	switch key := key.(type) {
	case list, *dict:
		return false
	case tuple:
		return !slices.ContainsFunc(key, func(v value) bool { return !hashable(v) })
	}
	return true
}

func index(key value) (int, bool) {
	switch key.(type) {
	case int, bool:
		return integer(key, "index"), true
	}
	return 0, false
}

// missing is the value of an attribute or an item that v does not have.
func missing(v value, name string) value {
	if u, ok := v.(undefined); ok {
		fail("%s", u)
	}
	return undefined{"'" + typeName(v) + "' has no attribute or item '" + name + "'"}
}

func (u undefined) String() string { return u.name }

// ownAttribute finds an attribute of v's type. It refuses attributes that Python has
// and this package does not.
func ownAttribute(r *renderer, v value, name string) (value, bool) {
	if strings.HasPrefix(name, "__") {
		fail("access to attribute '%s' is unsafe", name)
	}
	switch v := v.(type) {
	case undefined:
		fail("%s", v)
	case string:
		if method, ok := stringMethods[name]; ok {
			return bound(name, func(r *renderer, a *arguments) value { return method(r, v, a) }), true
		}
		refuseListed(stringRefused, "str", name)
	case *dict:
		if method, ok := dictMethods[name]; ok {
			return bound(name, func(r *renderer, a *arguments) value { return method(v, a) }), true
		}
		refuseListed(dictRefused, "dict", name)
	case list, tuple:
		items := elements(r, v)
		switch name {
		case "index":
			return bound(name, func(r *renderer, a *arguments) value { return indexOf(r, items, a) }), true
		case "count":
			return bound(name, func(r *renderer, a *arguments) value { return countOf(r, items, a) }), true
		}
		refuseListed(listRefused, "list", name)
	case *namespace:
		found, ok := v.vars[name]
		return found, ok
	case *loop:
		return v.attribute(name)
	case *macro:
		return v.attribute(name)
	case int, bool, float64:
		refuseListed(numberRefused, "number", name)
	case nil:
	default:
		fail("attributes of '%s' are not supported: %s", typeName(v), name)
	}
	return nil, false
}

func bound(name string, call func(r *renderer, a *arguments) value) function {
	return function{name, call}
}

var (
	stringRefused = " center encode expandtabs format_map isalnum isascii isidentifier isprintable istitle ljust " +
		"maketrans rjust swapcase translate zfill casefold "
	dictRefused   = " clear fromkeys pop popitem setdefault update "
	numberRefused = " as_integer_ratio bit_count bit_length conjugate denominator from_bytes fromhex hex imag " +
		"is_integer numerator real to_bytes "
	listRefused = " append clear copy extend insert pop remove reverse sort "
)

func refuseListed(refused, kind, name string) {
	if strings.Contains(refused, " "+name+" ") {
		fail("%s.%s is not supported", kind, name)
	}
}

func indexOf(r *renderer, items list, a *arguments) value {
	a.expect("index", 1, 1)
	for i, v := range items {
		r.charge(step)
		if r.equal(v, a.at(0)) {
			return i
		}
	}
	fail("%s is not in list", repr(a.at(0)))
	return nil
}

func countOf(r *renderer, items list, a *arguments) value {
	a.expect("count", 1, 1)
	n := 0
	for _, v := range items {
		r.charge(step)
		if r.equal(v, a.at(0)) {
			n++
		}
	}
	return n
}

var dictMethods = map[string]func(d *dict, a *arguments) value{
	"items":  func(d *dict, a *arguments) value { a.expect("items", 0, 0); return view{"dict_items", d.pairs()} },
	"keys":   func(d *dict, a *arguments) value { a.expect("keys", 0, 0); return view{"dict_keys", d.keys} },
	"values": func(d *dict, a *arguments) value { a.expect("values", 0, 0); return view{"dict_values", d.values} },
	"copy":   func(d *dict, a *arguments) value { a.expect("copy", 0, 0); return d.clone() },
	"get": func(d *dict, a *arguments) value {
		a.expect("get", 1, 2)
		if v, ok := d.lookup(a.at(0)); ok {
			return v
		}
		return a.or(1, nil)
	},
}

// itemAt is v[i] of a sequence.
func itemAt(r *renderer, v value, i int) (value, bool) {
	if s, ok := v.(string); ok && i >= 0 && i < len(s) && asciiTo(s, i) {
		return s[i : i+1], true
	}
	switch v.(type) {
	case string, list, tuple, span:
	case undefined:
		return missing(v, ""), false
	case markup:
		fail("the characters of safe text are not supported")
	default:
		return nil, false
	}
	items := elements(r, v)
	if i < 0 {
		i += len(items)
	}
	if i < 0 || i >= len(items) {
		return nil, false
	}
	return items[i], true
}

// asciiTo reports whether the bytes up to and including i are ASCII.
func asciiTo(s string, i int) bool {
	for _, c := range []byte(s[:i+1]) {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// slice is v[start:stop:step]; a bound that is left out is nil.
func slice(r *renderer, v, start, stop, step value) value {
	if _, ok := v.(span); ok {
		fail("a slice of a range is not supported")
	}
	switch v.(type) {
	case string, list, tuple:
	case undefined:
		return missing(v, "")
	default:
		fail("'%s' cannot be sliced", typeName(v))
	}
	items := elements(r, v)
	picked := list{}
	for _, i := range sliceIndexes(len(items), start, stop, step) {
		picked = append(picked, items[i])
	}
	r.charge(16 * len(picked))
	switch v.(type) {
	case string:
		var b strings.Builder
		for _, c := range picked {
			b.WriteString(c.(string))
		}
		return b.String()
	case tuple:
		return tuple(picked)
	}
	return picked
}

func sliceIndexes(n int, start, stop, step value) []int {
	stride := 1
	if step != nil {
		stride = integer(step, "slice")
	}
	if stride == 0 {
		fail("slice step cannot be zero")
	}
	low, high := 0, n
	if stride < 0 {
		low, high = -1, n-1
	}
	bound := func(v value, otherwise int) int {
		if v == nil {
			return otherwise
		}
		i := integer(v, "slice")
		if i < 0 {
			i += n
		}
		return min(max(i, low), high)
	}
	from, to := bound(start, low), bound(stop, high)
	if stride < 0 {
		from, to = bound(start, high), bound(stop, low)
	}
	var indexes []int
	for i := from; (stride > 0 && i < to) || (stride < 0 && i > to); i += stride {
		indexes = append(indexes, i)
		if stride > n || stride < -n {
			break
		}
	}
	return indexes
}
