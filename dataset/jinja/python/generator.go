package python

// A Generator is a sequence that can be iterated once. It is not safe for concurrent use: iterating
// changes it.
type Generator struct {
	rest List // elements that are not yet iterated
}

// NewGenerator yields items.
func NewGenerator(items List) *Generator { return &Generator{items} }

// Next is the next element; more is false at the end.
func (g *Generator) Next() (v Value, more bool) {
	if len(g.rest) == 0 {
		return nil, false
	}
	v, g.rest = g.rest[0], g.rest[1:]
	return v, true
}

// all are the elements that are left. It uses them up.
func (g *Generator) all() List {
	rest := g.rest
	g.rest = nil
	return rest
}
