package python

import (
	"slices"
	"strings"
)

// Attribute is v.name: a method of v, else its item of that name.
func Attribute(m *Meter, v Value, name string) Value {
	if found, ok := ownAttribute(m, v, name); ok {
		return found
	}
	if d, ok := v.(*Dict); ok {
		if item, ok := d.Lookup(name); ok {
			return item
		}
	}
	return missing(v, name)
}

// Item is v[key]: an item of v, else its attribute of that name.
func Item(m *Meter, v, key Value) Value {
	if d, ok := v.(*Dict); ok && hashable(key) {
		if found, ok := d.Lookup(key); ok {
			return found
		}
	}
	if i, ok := Index(key); ok {
		if found, ok := itemAt(m, v, i); ok {
			return found
		}
		return missing(v, repr(key))
	}
	if name, ok := key.(string); ok {
		if found, ok := ownAttribute(m, v, name); ok {
			return found
		}
		return missing(v, name)
	}
	return missing(v, "of that key")
}

func hashable(key Value) bool {
	switch key := key.(type) {
	case List, *Dict:
		return false
	case Tuple:
		return !slices.ContainsFunc(key, func(v Value) bool { return !hashable(v) })
	}
	return true
}

// Index is a key that counts items: an int or a bool.
func Index(key Value) (int, bool) {
	switch key.(type) {
	case int, bool:
		return AsInteger(key, "index"), true
	}
	return 0, false
}

// missing is the value of an attribute or an item that v does not have.
func missing(v Value, name string) Value {
	if u, ok := v.(Undefined); ok {
		Raise("%s", u)
	}
	return Undefined("'" + TypeName(v) + "' has no attribute or item '" + name + "'")
}

// ownAttribute finds an attribute of v's type. It refuses attributes that Python has
// and this package does not.
func ownAttribute(m *Meter, v Value, name string) (Value, bool) {
	if strings.HasPrefix(name, "__") {
		Raise("access to attribute '%s' is unsafe", name)
	}
	switch v := v.(type) {
	case Undefined:
		Raise("%s", v)
	case string:
		if method, ok := stringMethods[name]; ok {
			return Function(func(m *Meter, a *Arguments) Value { return method(m, v, a) }), true
		}
		refuseListed(stringRefused, "str", name)
	case *Dict:
		if method, ok := dictMethods[name]; ok {
			return Function(func(m *Meter, a *Arguments) Value { return method(v, a) }), true
		}
		refuseListed(dictRefused, "dict", name)
	case List, Tuple:
		items := Elements(m, v)
		switch name {
		case "index":
			return Function(func(m *Meter, a *Arguments) Value { return indexOf(m, items, a) }), true
		case "count":
			return Function(func(m *Meter, a *Arguments) Value { return countOf(m, items, a) }), true
		}
		refuseListed(listRefused, "list", name)
	case object:
		return v.Attribute(name)
	case int, bool, float64:
		refuseListed(numberRefused, "number", name)
	case nil:
	default:
		Raise("attributes of '%s' are not supported: %s", TypeName(v), name)
	}
	return nil, false
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
		Raise("%s.%s is not supported", kind, name)
	}
}

func indexOf(m *Meter, items List, a *Arguments) Value {
	a.Expect("index", 1, 1)
	for i, v := range items {
		m.Charge(Step)
		if Equal(m, v, a.At(0)) {
			return i
		}
	}
	Raise("%s is not in list", repr(a.At(0)))
	return nil
}

func countOf(m *Meter, items List, a *Arguments) Value {
	a.Expect("count", 1, 1)
	n := 0
	for _, v := range items {
		m.Charge(Step)
		if Equal(m, v, a.At(0)) {
			n++
		}
	}
	return n
}

var dictMethods = map[string]func(d *Dict, a *Arguments) Value{
	"items":  func(d *Dict, a *Arguments) Value { a.Expect("items", 0, 0); return view{"dict_items", d.Pairs()} },
	"keys":   func(d *Dict, a *Arguments) Value { a.Expect("keys", 0, 0); return view{"dict_keys", d.keys} },
	"values": func(d *Dict, a *Arguments) Value { a.Expect("values", 0, 0); return view{"dict_values", d.values} },
	"copy":   func(d *Dict, a *Arguments) Value { a.Expect("copy", 0, 0); return d.clone() },
	"get": func(d *Dict, a *Arguments) Value {
		a.Expect("get", 1, 2)
		if v, ok := d.Lookup(a.At(0)); ok {
			return v
		}
		return a.Or(1, nil)
	},
}

// itemAt is v[i] of a sequence.
func itemAt(m *Meter, v Value, i int) (Value, bool) {
	if s, ok := v.(string); ok && i >= 0 && i < len(s) && asciiTo(s, i) {
		return s[i : i+1], true
	}
	switch v.(type) {
	case string, List, Tuple, span:
	case Undefined:
		return missing(v, ""), false
	case Markup:
		Raise("the characters of safe text are not supported")
	default:
		return nil, false
	}
	items := Elements(m, v)
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

// Slice is v[start:stop:step]; a bound that is left out is nil.
func Slice(m *Meter, v, start, stop, step Value) Value {
	if _, ok := v.(span); ok {
		Raise("a slice of a range is not supported")
	}
	switch v.(type) {
	case string, List, Tuple:
	case Undefined:
		return missing(v, "")
	default:
		Raise("'%s' cannot be sliced", TypeName(v))
	}
	items := Elements(m, v)
	picked := List{}
	for _, i := range sliceIndexes(len(items), start, stop, step) {
		picked = append(picked, items[i])
	}
	m.Charge(16 * len(picked))
	switch v.(type) {
	case string:
		var b strings.Builder
		for _, c := range picked {
			b.WriteString(c.(string))
		}
		return b.String()
	case Tuple:
		return Tuple(picked)
	}
	return picked
}

func sliceIndexes(n int, start, stop, step Value) []int {
	stride := 1
	if step != nil {
		stride = AsInteger(step, "slice")
	}
	if stride == 0 {
		Raise("slice step cannot be zero")
	}
	low, high := 0, n
	if stride < 0 {
		low, high = -1, n-1
	}
	bound := func(v Value, otherwise int) int {
		if v == nil {
			return otherwise
		}
		i := AsInteger(v, "slice")
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
