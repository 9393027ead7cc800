package jinja

import (
	"slices"
	"strconv"
	"strings"
)

// Filters of sequences.

// byAttribute returns a function that finds the attribute called name, such as
// "a.b.0", of an element. If name is nil, the function returns the element.
func byAttribute(r *renderer, name value) func(value) value {
	return byAttributeOr(r, name, nil)
}

// byAttributeOr is byAttribute with a value for missing attributes, if otherwise is
// not None.
func byAttributeOr(r *renderer, name, otherwise value) func(value) value {
	find := func(v, key value) value {
		if v = item(r, v, key); otherwise != nil && !isDefined(v) {
			return otherwise
		}
		return v
	}
	if name == nil {
		return func(v value) value { return v }
	}
	if i, ok := index(name); ok {
		return func(v value) value { return find(v, i) }
	}
	parts := strings.Split(str(name, "attribute"), ".")
	if strings.Contains(name.(string), ",") {
		fail("several attributes at once are not supported: %s", name)
	}
	return func(v value) value {
		for _, part := range parts {
			if i, err := strconv.Atoi(part); err == nil && i >= 0 {
				v = find(v, i)
			} else {
				v = find(v, part)
			}
		}
		return v
	}
}

// ignoringCase is key in lower case, unless caseCounts is true.
func ignoringCase(r *renderer, key func(value) value, caseCounts value) func(value) value {
	if truth(caseCounts) {
		return key
	}
	return func(v value) value {
		k := key(v)
		if s, ok := k.(string); ok {
			return r.lower(s)
		}
		return k
	}
}

// sortValues sorts by key. It keeps the order of equal values, also in reverse.
func sortValues(r *renderer, items list, key func(value) value, reversed bool) list {
	type keyed struct{ key, value value }
	pairs := make([]keyed, len(items))
	for i, v := range items {
		pairs[i] = keyed{key(v), v}
	}
	slices.SortStableFunc(pairs, func(a, b keyed) int {
		order, ordered := r.compare(a.key, b.key)
		if !ordered {
			fail("sorting of NaN is not supported")
		}
		if reversed {
			return -order
		}
		return order
	})
	sorted := make(list, len(items))
	for i, pair := range pairs {
		sorted[i] = pair.value
	}
	return sorted
}

func joinFilter(r *renderer, v value, a *arguments) value {
	a.bind("join", 0, "d", "attribute")
	separator := textOf(a.or(0, ""))
	key := byAttribute(r, a.or(1, nil))
	var parts []string
	for _, part := range elements(r, v) {
		text := textOf(key(part))
		r.charge(len(text) + len(separator) + 16)
		parts = append(parts, text)
	}
	return strings.Join(parts, separator)
}

func listFilter(r *renderer, v value, a *arguments) value {
	a.expect("list", 0, 0)
	items := elements(r, v)
	r.charge(16 * len(items))
	return append(list{}, items...)
}

func itemsFilter(_ *renderer, v value, a *arguments) value {
	a.expect("items", 0, 0)
	switch v := v.(type) {
	case undefined:
		return &generator{}
	case *dict:
		return &generator{v.pairs()}
	}
	fail("can only get item pairs from a mapping")
	return nil
}

func dictsortFilter(r *renderer, v value, a *arguments) value {
	a.bind("dictsort", 0, "case_sensitive", "by", "reverse")
	d, ok := v.(*dict)
	if !ok {
		fail("'%s' has no items to sort", typeName(v))
	}
	place := slices.Index([]string{"key", "value"}, textOf(a.or(1, "key")))
	if place < 0 {
		fail("dictsort is by key or by value")
	}
	key := ignoringCase(r, func(pair value) value { return pair.(tuple)[place] }, a.or(0, false))
	return sortValues(r, d.pairs(), key, truth(a.or(2, false)))
}

func firstFilter(r *renderer, v value, a *arguments) value {
	a.expect("first", 0, 0)
	if g, ok := v.(*generator); ok && len(g.rest) > 0 {
		first := g.rest[0]
		g.rest = g.rest[1:]
		return first
	}
	if items := elements(r, v); len(items) > 0 {
		return items[0]
	}
	return undefined{"no first item, the sequence was empty"}
}

func lastFilter(r *renderer, v value, a *arguments) value {
	a.expect("last", 0, 0)
	if _, ok := v.(*generator); ok {
		fail("a generator has no last item")
	}
	if items := elements(r, v); len(items) > 0 {
		return items[len(items)-1]
	}
	return undefined{"no last item, the sequence was empty"}
}

func reverseFilter(r *renderer, v value, a *arguments) value {
	a.expect("reverse", 0, 0)
	items := slices.Clone(elements(r, v))
	r.charge(16 * len(items))
	slices.Reverse(items)
	switch v.(type) {
	case string:
		return joinStrings(r, "", &arguments{positional: list{items}})
	case *generator:
		return items
	}
	return &generator{items}
}

func sortFilter(r *renderer, v value, a *arguments) value {
	a.bind("sort", 0, "reverse", "case_sensitive", "attribute")
	key := ignoringCase(r, byAttribute(r, a.or(2, nil)), a.or(1, false))
	items := elements(r, v)
	r.charge(32 * len(items))
	return sortValues(r, items, key, truth(a.or(0, false)))
}

func uniqueFilter(r *renderer, v value, a *arguments) value {
	a.bind("unique", 0, "case_sensitive", "attribute")
	key := ignoringCase(r, byAttribute(r, a.or(1, nil)), a.or(0, false))
	seen := newDict()
	var items list
	for _, v := range elements(r, v) {
		r.charge(32)
		k := key(v)
		if _, ok := seen.lookup(k); !ok {
			seen.set(k, nil)
			items = append(items, v)
		}
	}
	return &generator{items}
}

// extremeFilter is min for sign -1 and max for 1. Of equal elements it takes the
// first.
func extremeFilter(sign int) filterFunc {
	return func(r *renderer, v value, a *arguments) value {
		a.bind("min and max", 0, "case_sensitive", "attribute")
		key := ignoringCase(r, byAttribute(r, a.or(1, nil)), a.or(0, false))
		items := elements(r, v)
		if len(items) == 0 {
			return undefined{"no aggregated item, the sequence was empty"}
		}
		best := items[0]
		for _, candidate := range items[1:] {
			r.charge(step)
			if order, ordered := r.compare(key(candidate), key(best)); ordered && order*sign > 0 {
				best = candidate
			}
		}
		return best
	}
}

func sumFilter(r *renderer, v value, a *arguments) value {
	a.bind("sum", 0, "attribute", "start")
	key := byAttribute(r, a.or(0, nil))
	total := a.or(1, 0)
	if isText(total) {
		fail("sum cannot add strings")
	}
	for _, v := range elements(r, v) {
		total = r.binary("+", total, key(v))
	}
	return total
}

func mapFilter(r *renderer, v value, a *arguments) value {
	if !truth(v) {
		return &generator{}
	}
	var apply func(value) value
	if len(a.positional) == 0 {
		a.bind("map", 0, "attribute", "default")
		apply = byAttributeOr(r, a.or(0, nil), a.or(1, nil))
	} else {
		name := str(a.at(0), "map")
		apply = func(v value) value {
			return r.filter(name, v, &arguments{slices.Clone(a.positional[1:]), slices.Clone(a.names), slices.Clone(a.keywords)})
		}
	}
	var mapped list
	for _, v := range elements(r, v) {
		r.charge(16)
		mapped = append(mapped, apply(v))
	}
	return &generator{mapped}
}

// chooseFilter keeps the elements for which the result of a test equals keep.
func chooseFilter(r *renderer, v value, a *arguments, ofAttribute, keep bool) value {
	if !truth(v) {
		return &generator{}
	}
	subject := func(v value) value { return v }
	rest := a.positional
	if ofAttribute {
		if len(rest) == 0 {
			fail("the name of the attribute is missing")
		}
		subject, rest = byAttribute(r, rest[0]), rest[1:]
	}
	passes := func(v value) bool { return truth(v) }
	if len(rest) > 0 {
		name := str(rest[0], "the name of a test")
		passes = func(v value) bool { return r.test(name, v, &arguments{positional: rest[1:]}) }
	}
	if len(a.names) > 0 {
		fail("keyword arguments of a test are not supported")
	}
	var chosen list
	for _, v := range elements(r, v) {
		r.charge(16)
		if passes(subject(v)) == keep {
			chosen = append(chosen, v)
		}
	}
	return &generator{chosen}
}
