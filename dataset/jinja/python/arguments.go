package python

import "slices"

// Arguments are the arguments of a call.
type Arguments struct {
	Positional List
	Names      []string // of the keyword arguments
	Keywords   List     // the value of each name
}

// absent is the value of an argument that the call leaves out.
type absent struct{}

// Expect refuses keyword arguments, and a number of arguments that what does not take.
func (a *Arguments) Expect(what string, least, most int) {
	if len(a.Names) > 0 {
		Raise("%s takes no keyword argument '%s'", what, a.Names[0])
	}
	if n := len(a.Positional); n < least || n > most {
		Raise("%s takes %d to %d arguments, not %d", what, least, most, n)
	}
}

// Bind moves keyword arguments to the position of their names. The first least
// arguments are required.
func (a *Arguments) Bind(what string, least int, names ...string) {
	if len(a.Positional) > len(names) {
		Raise("%s takes at most %d arguments, not %d", what, len(names), len(a.Positional))
	}
	places := slices.Repeat(List{absent{}}, len(names))
	copy(places, a.Positional)
	for i, name := range a.Names {
		place := slices.Index(names, name)
		if place < 0 {
			Raise("%s takes no keyword argument '%s'", what, name)
		}
		if !isAbsent(places[place]) {
			Raise("%s got several values for '%s'", what, name)
		}
		places[place] = a.Keywords[i]
	}
	for i := range least {
		if isAbsent(places[i]) {
			Raise("%s needs the argument '%s'", what, names[i])
		}
	}
	a.Positional, a.Names, a.Keywords = places, nil, nil
}

// After are the arguments without the first n positional ones, for a call within the call.
func (a *Arguments) After(n int) *Arguments {
	return &Arguments{slices.Clone(a.Positional[n:]), slices.Clone(a.Names), slices.Clone(a.Keywords)}
}

// At is argument i.
func (a *Arguments) At(i int) Value { return a.Positional[i] }

// Or is argument i, or otherwise where the call leaves it out.
func (a *Arguments) Or(i int, otherwise Value) Value {
	if i >= len(a.Positional) || isAbsent(a.Positional[i]) {
		return otherwise
	}
	return a.Positional[i]
}

func isAbsent(v Value) bool {
	_, ok := v.(absent)
	return ok
}

// Only is the argument of a call that must have one argument.
func (a *Arguments) Only(what string) Value {
	a.Expect(what, 1, 1)
	return a.Positional[0]
}

// Named is the keyword argument of that name.
func (a *Arguments) Named(name string) (Value, bool) {
	i := slices.Index(a.Names, name)
	if i < 0 {
		return nil, false
	}
	return a.Keywords[i], true
}
