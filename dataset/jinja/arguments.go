package jinja

import "slices"

// arguments are what a call is given.
type arguments struct {
	positional list
	names      []string // of the keyword arguments
	keywords   list     // their values
}

// absent stands where an argument was left out.
type absent struct{}

// expect refuses keywords, and fewer or more arguments than what takes.
func (a *arguments) expect(what string, least, most int) {
	if len(a.names) > 0 {
		fail("%s takes no keyword argument '%s'", what, a.names[0])
	}
	if n := len(a.positional); n < least || n > most {
		fail("%s takes %d to %d arguments, not %d", what, least, most, n)
	}
}

// bind puts keyword arguments at the places of their names. The first least are required.
func (a *arguments) bind(what string, least int, names ...string) {
	if len(a.positional) > len(names) {
		fail("%s takes at most %d arguments, not %d", what, len(names), len(a.positional))
	}
	places := slices.Repeat(list{absent{}}, len(names))
	copy(places, a.positional)
	for i, name := range a.names {
		place := slices.Index(names, name)
		if place < 0 {
			fail("%s takes no keyword argument '%s'", what, name)
		}
		if !isAbsent(places[place]) {
			fail("%s got several values for '%s'", what, name)
		}
		places[place] = a.keywords[i]
	}
	for i := range least {
		if isAbsent(places[i]) {
			fail("%s needs the argument '%s'", what, names[i])
		}
	}
	a.positional, a.names, a.keywords = places, nil, nil
}

func (a *arguments) at(i int) value { return a.positional[i] }

// or is argument i, or what to take where it was left out.
func (a *arguments) or(i int, otherwise value) value {
	if i >= len(a.positional) || isAbsent(a.positional[i]) {
		return otherwise
	}
	return a.positional[i]
}

func isAbsent(v value) bool {
	_, ok := v.(absent)
	return ok
}

// only is the one argument there must be.
func (a *arguments) only(what string) value {
	a.expect(what, 1, 1)
	return a.positional[0]
}

func (a *arguments) named(name string) (value, bool) {
	i := slices.Index(a.names, name)
	if i < 0 {
		return nil, false
	}
	return a.keywords[i], true
}
