package python

import (
	"iter"
	"math"
)

// A Dict keeps its keys in the order in which they were first set.
type Dict struct {
	keys   List
	values List
	index  map[any]int // by the hashKey of the key
}

// NewDict is an empty dict.
func NewDict() *Dict { return &Dict{index: make(map[any]int)} }

// hashKey is equal for keys that are equal in Python, such as 1, 1.0 and True.
func hashKey(key Value) any {
	switch k := key.(type) {
	case nil, string, int:
		return k
	case Markup:
		return string(k)
	case bool:
		return AsInteger(k, "key")
	case float64:
		if k == math.Trunc(k) && math.Abs(k) < 1<<53 {
			return int(k)
		}
		return k
	case Undefined:
		return k
	case Tuple:
		type tupleKey string
		return tupleKey(repr(k))
	}
	Raise("unhashable type: '%s'", TypeName(key))
	return nil
}

// Set is d[key] = v.
func (d *Dict) Set(key, v Value) {
	h := hashKey(key)
	if i, ok := d.index[h]; ok {
		d.values[i] = v
		return
	}
	d.index[h] = len(d.keys)
	d.keys = append(d.keys, key)
	d.values = append(d.values, v)
}

// Lookup is d[key]; false where there is none.
func (d *Dict) Lookup(key Value) (Value, bool) {
	i, ok := d.index[hashKey(key)]
	if !ok {
		return nil, false
	}
	return d.values[i], true
}

// Pairs are tuples of the keys with their values, in order.
func (d *Dict) Pairs() List {
	items := make(List, len(d.keys))
	for i, k := range d.keys {
		items[i] = Tuple{k, d.values[i]}
	}
	return items
}

func (d *Dict) clone() *Dict {
	c := NewDict()
	c.update(d)
	return c
}

func (d *Dict) update(other *Dict) {
	for i, k := range other.keys {
		d.Set(k, other.values[i])
	}
}

// MakeDict is a call of dict.
func MakeDict(m *Meter, a *Arguments) Value { return collected(m, "dict", a) }

// collected is a dict of the arguments of a call of dict or namespace.
func collected(m *Meter, what string, a *Arguments) *Dict {
	d := NewDict()
	if len(a.Positional) > 1 {
		Raise("%s takes at most one positional argument", what)
	}
	if len(a.Positional) == 1 {
		if from, ok := a.At(0).(*Dict); ok {
			d = from.clone()
		} else {
			for _, pair := range Elements(m, a.At(0)) {
				both := Elements(m, pair)
				if len(both) != 2 {
					Raise("%s needs pairs", what)
				}
				d.Set(both[0], both[1])
			}
		}
	}
	for i, name := range a.Names {
		d.Set(name, a.Keywords[i])
	}
	return d
}

// All yields the keys with their values, in order.
func (d *Dict) All() iter.Seq2[Value, Value] {
	return func(yield func(key, v Value) bool) {
		for i, k := range d.keys {
			if !yield(k, d.values[i]) {
				return
			}
		}
	}
}
