package metrics

import "slices"

// By puts things of one key together. The keys are in the order of the first thing of
// each.
func By[K comparable, T any](all []T, key func(T) K) (keys []K, by map[K][]T) {
	by = map[K][]T{}
	for _, thing := range all {
		k := key(thing)
		if by[k] == nil {
			keys = append(keys, k)
		}
		by[k] = append(by[k], thing)
	}
	return keys, by
}

// Distinct are the different ones of all, each where it is first.
func Distinct[T comparable](all []T) []T {
	distinct, _ := By(all, func(one T) T { return one })
	return distinct
}

// Value is the value of a key among pairs; empty where there is no such pair.
func Value(pairs []KV, key string) string {
	if i := slices.IndexFunc(pairs, func(kv KV) bool { return kv.Key == key }); i >= 0 {
		return pairs[i].Value
	}
	return ""
}
