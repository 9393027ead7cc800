package jinja

import "math"

// A dict keeps its keys in the order in which they were first set.
type dict struct {
	keys   list
	values list
	index  map[any]int // by the hashKey of the key
}

func newDict() *dict { return &dict{index: make(map[any]int)} }

// hashKey is equal for keys that are equal in Python, such as 1, 1.0 and True.
func hashKey(key value) any {
	switch k := key.(type) {
	case nil, string, int:
		return k
	case markup:
		return string(k)
	case bool:
		return integer(k, "key")
	case float64:
		if k == math.Trunc(k) && math.Abs(k) < 1<<53 {
			return int(k)
		}
		return k
	case undefined:
		return k
	case tuple:
		type tupleKey string
		return tupleKey(repr(k))
	}
	fail("unhashable type: '%s'", typeName(key))
	return nil
}

func (d *dict) set(key, v value) {
	h := hashKey(key)
	if i, ok := d.index[h]; ok {
		d.values[i] = v
		return
	}
	d.index[h] = len(d.keys)
	d.keys = append(d.keys, key)
	d.values = append(d.values, v)
}

func (d *dict) lookup(key value) (value, bool) {
	i, ok := d.index[hashKey(key)]
	if !ok {
		return nil, false
	}
	return d.values[i], true
}

// pairs are the keys with their values.
func (d *dict) pairs() list {
	items := make(list, len(d.keys))
	for i, k := range d.keys {
		items[i] = tuple{k, d.values[i]}
	}
	return items
}

func (d *dict) clone() *dict {
	c := newDict()
	c.update(d)
	return c
}

func (d *dict) update(other *dict) {
	for i, k := range other.keys {
		d.set(k, other.values[i])
	}
}
