package builtin

import (
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/dataset/jinja/python"
)

// A keyFunc finds in an element what a filter is about.
type keyFunc = func(element python.Value) python.Value

// byAttribute returns a function that finds the attribute called name, such as
// "a.b.0", of an element. If name is nil, the function returns the element.
func byAttribute(m *python.Meter, name python.Value) keyFunc {
	return byAttributeOr(m, name, nil)
}

// byAttributeOr is byAttribute with a value for missing attributes, if otherwise is
// not None.
func byAttributeOr(m *python.Meter, name, otherwise python.Value) keyFunc {
	find := func(v, key python.Value) python.Value {
		if v = python.Item(m, v, key); otherwise != nil && !isDefined(v) {
			return otherwise
		}
		return v
	}
	if name == nil {
		return func(v python.Value) python.Value { return v }
	}
	if i, ok := python.Index(name); ok {
		return func(v python.Value) python.Value { return find(v, i) }
	}
	parts := strings.Split(python.AsString(name, "attribute"), ".")
	if strings.Contains(name.(string), ",") {
		python.Raise("several attributes at once are not supported: %s", name)
	}
	return func(v python.Value) python.Value {
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
func ignoringCase(m *python.Meter, key keyFunc, caseCounts python.Value) keyFunc {
	if python.Truth(caseCounts) {
		return key
	}
	return func(v python.Value) python.Value {
		k := key(v)
		if s, ok := k.(string); ok {
			return python.Lower(m, s)
		}
		return k
	}
}

func joinFilter(m *python.Meter, v python.Value, a *python.Arguments) python.Value {
	a.Bind("join", 0, "d", "attribute")
	separator := python.Text(a.Or(0, ""))
	key := byAttribute(m, a.Or(1, nil))
	var parts []string
	for _, part := range python.Elements(m, v) {
		text := python.Text(key(part))
		m.Charge(len(text) + len(separator) + 16)
		parts = append(parts, text)
	}
	return strings.Join(parts, separator)
}

func listFilter(m *python.Meter, v python.Value, a *python.Arguments) python.Value {
	a.Expect("list", 0, 0)
	items := python.Elements(m, v)
	m.Charge(16 * len(items))
	return append(python.List{}, items...)
}

func itemsFilter(_ *python.Meter, v python.Value, a *python.Arguments) python.Value {
	a.Expect("items", 0, 0)
	switch v := v.(type) {
	case python.Undefined:
		return python.NewGenerator(nil)
	case *python.Dict:
		return python.NewGenerator(v.Pairs())
	}
	python.Raise("can only get item pairs from a mapping")
	return nil
}

func dictsortFilter(m *python.Meter, v python.Value, a *python.Arguments) python.Value {
	a.Bind("dictsort", 0, "case_sensitive", "by", "reverse")
	d, ok := v.(*python.Dict)
	if !ok {
		python.Raise("'%s' has no items to sort", python.TypeName(v))
	}
	place := slices.Index([]string{"key", "value"}, python.Text(a.Or(1, "key")))
	if place < 0 {
		python.Raise("dictsort is by key or by value")
	}
	key := ignoringCase(m, func(pair python.Value) python.Value { return pair.(python.Tuple)[place] }, a.Or(0, false))
	return python.SortBy(m, d.Pairs(), key, python.Truth(a.Or(2, false)))
}

func firstFilter(m *python.Meter, v python.Value, a *python.Arguments) python.Value {
	a.Expect("first", 0, 0)
	if g, ok := v.(*python.Generator); ok {
		if first, more := g.Next(); more {
			return first
		}
	}
	if items := python.Elements(m, v); len(items) > 0 {
		return items[0]
	}
	return python.Undefined("no first item, the sequence was empty")
}

func lastFilter(m *python.Meter, v python.Value, a *python.Arguments) python.Value {
	a.Expect("last", 0, 0)
	if _, ok := v.(*python.Generator); ok {
		python.Raise("a generator has no last item")
	}
	if items := python.Elements(m, v); len(items) > 0 {
		return items[len(items)-1]
	}
	return python.Undefined("no last item, the sequence was empty")
}

func reverseFilter(m *python.Meter, v python.Value, a *python.Arguments) python.Value {
	a.Expect("reverse", 0, 0)
	items := slices.Clone(python.Elements(m, v))
	m.Charge(16 * len(items))
	slices.Reverse(items)
	switch v.(type) {
	case string:
		return python.Join(m, "", items)
	case *python.Generator:
		return items
	}
	return python.NewGenerator(items)
}

func sortFilter(m *python.Meter, v python.Value, a *python.Arguments) python.Value {
	a.Bind("sort", 0, "reverse", "case_sensitive", "attribute")
	key := ignoringCase(m, byAttribute(m, a.Or(2, nil)), a.Or(1, false))
	items := python.Elements(m, v)
	m.Charge(32 * len(items))
	return python.SortBy(m, items, key, python.Truth(a.Or(0, false)))
}

func uniqueFilter(m *python.Meter, v python.Value, a *python.Arguments) python.Value {
	a.Bind("unique", 0, "case_sensitive", "attribute")
	key := ignoringCase(m, byAttribute(m, a.Or(1, nil)), a.Or(0, false))
	seen := python.NewDict()
	var items python.List
	for _, v := range python.Elements(m, v) {
		m.Charge(32)
		k := key(v)
		if _, ok := seen.Lookup(k); !ok {
			seen.Set(k, nil)
			items = append(items, v)
		}
	}
	return python.NewGenerator(items)
}

// extremeFilter is min for sign -1 and max for 1. Of equal elements it takes the
// first.
func extremeFilter(sign int) filterFunc {
	return func(m *python.Meter, v python.Value, a *python.Arguments) python.Value {
		a.Bind("min and max", 0, "case_sensitive", "attribute")
		key := ignoringCase(m, byAttribute(m, a.Or(1, nil)), a.Or(0, false))
		items := python.Elements(m, v)
		if len(items) == 0 {
			return python.Undefined("no aggregated item, the sequence was empty")
		}
		best := items[0]
		for _, candidate := range items[1:] {
			m.Charge(python.Step)
			if order, ordered := python.Compare(m, key(candidate), key(best)); ordered && order*sign > 0 {
				best = candidate
			}
		}
		return best
	}
}

func sumFilter(m *python.Meter, v python.Value, a *python.Arguments) python.Value {
	a.Bind("sum", 0, "attribute", "start")
	key := byAttribute(m, a.Or(0, nil))
	total := a.Or(1, 0)
	if python.IsText(total) {
		python.Raise("sum cannot add strings")
	}
	for _, v := range python.Elements(m, v) {
		total = python.Binary(m, "+", total, key(v))
	}
	return total
}

func mapFilter(m *python.Meter, v python.Value, a *python.Arguments) python.Value {
	if !python.Truth(v) {
		return python.NewGenerator(nil)
	}
	var apply func(python.Value) python.Value
	if len(a.Positional) == 0 {
		a.Bind("map", 0, "attribute", "default")
		apply = byAttributeOr(m, a.Or(0, nil), a.Or(1, nil))
	} else {
		name := python.AsString(a.At(0), "map")
		apply = func(v python.Value) python.Value {
			return Filter(m, name, v, a.After(1))
		}
	}
	var mapped python.List
	for _, v := range python.Elements(m, v) {
		m.Charge(16)
		mapped = append(mapped, apply(v))
	}
	return python.NewGenerator(mapped)
}

// chooseFilter keeps the elements for which the result of a test equals keep.
func chooseFilter(m *python.Meter, v python.Value, a *python.Arguments, ofAttribute, keep bool) python.Value {
	if !python.Truth(v) {
		return python.NewGenerator(nil)
	}
	subject := func(v python.Value) python.Value { return v }
	rest := a.Positional
	if ofAttribute {
		if len(rest) == 0 {
			python.Raise("the name of the attribute is missing")
		}
		subject, rest = byAttribute(m, rest[0]), rest[1:]
	}
	passes := func(v python.Value) bool { return python.Truth(v) }
	if len(rest) > 0 {
		name := python.AsString(rest[0], "the name of a test")
		passes = func(v python.Value) bool { return Test(m, name, v, &python.Arguments{Positional: rest[1:]}) }
	}
	if len(a.Names) > 0 {
		python.Raise("keyword arguments of a test are not supported")
	}
	var chosen python.List
	for _, v := range python.Elements(m, v) {
		m.Charge(16)
		if passes(subject(v)) == keep {
			chosen = append(chosen, v)
		}
	}
	return python.NewGenerator(chosen)
}
