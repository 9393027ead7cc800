package python

// A Namespace is an object whose attributes a program can set, such as types.SimpleNamespace. It is not
// safe for concurrent use.
type Namespace struct{ attributes map[string]Value }

// MakeNamespace is a new one with the arguments of a call as attributes: the items of a dict, then the
// arguments with names.
func MakeNamespace(m *Meter, a *Arguments) Value {
	n := &Namespace{make(map[string]Value)}
	d := collected(m, "namespace", a)
	for i, key := range d.keys {
		n.attributes[AsString(key, "namespace")] = d.values[i]
	}
	return n
}

// Assign is n.name = v.
func (n *Namespace) Assign(name string, v Value) { n.attributes[name] = v }

// Attribute is n.name.
func (n *Namespace) Attribute(name string) (Value, bool) {
	found, ok := n.attributes[name]
	return found, ok
}
