package python

import "slices"

// SortBy sorts by key. It keeps the order of equal values, also in reverse.
func SortBy(m *Meter, items List, key func(Value) Value, reversed bool) List {
	type keyed struct{ key, value Value }
	pairs := make([]keyed, len(items))
	for i, v := range items {
		pairs[i] = keyed{key(v), v}
	}
	slices.SortStableFunc(pairs, func(a, b keyed) int {
		order, ordered := Compare(m, a.key, b.key)
		if !ordered {
			Raise("sorting of NaN is not supported")
		}
		if reversed {
			return -order
		}
		return order
	})
	sorted := make(List, len(items))
	for i, pair := range pairs {
		sorted[i] = pair.value
	}
	return sorted
}
