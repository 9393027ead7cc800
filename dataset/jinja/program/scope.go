package program

import "github.com/servebench/servebench/dataset/jinja/python"

// A scope holds the variables of one part of a template.
type scope struct {
	vars  map[string]python.Value
	outer *scope // nil for the outermost, which has the variables given to the template
}

// unset is the value of a name in the scope that sets it, before it does.
type unset struct{}

func (s *scope) inner() *scope { return &scope{vars: make(map[string]python.Value), outer: s} }

// lookup finds the innermost variable called name.
func (s *scope) lookup(name string) (python.Value, bool) {
	hidden := false
	for ; s != nil; s = s.outer {
		v, ok := s.vars[name]
		if _, isUnset := v.(unset); isUnset {
			hidden = true
			continue
		}
		if ok && hidden && s.outer == nil {
			python.Raise("'%s', which is given, is read in a scope within the one that sets it later: not supported",
				name)
		}
		if ok {
			return v, true
		}
	}
	return nil, false
}

// A section is a block with its own scope, and the names that are unset at its
// start.
type section struct {
	block block
	unset []string
}

func (b section) scope(outer *scope) *scope {
	inner := outer.inner()
	for _, name := range b.unset {
		inner.vars[name] = unset{}
	}
	return inner
}

func (b section) run(r *renderer, s *scope) signal { return b.block.run(r, b.scope(s)) }

// names are the names that one scope mentions, in the order of jinja2's analysis. If a scope sets a
// name, outside of branches, before it reads it, the name no longer refers to the outer one: the
// scopes inside see it unset.
type names struct {
	seen     map[string]bool
	unset    []string // set before they are read
	branches int      // around the current tag, within the scope
}

// newNames are the names of a scope that has variables called known from its start.
func newNames(known ...string) *names {
	n := &names{seen: make(map[string]bool)}
	for _, name := range known {
		n.read(name)
	}
	return n
}

func (n *names) read(name string) { n.seen[name] = true }

func (n *names) stored(several ...string) {
	for _, name := range several {
		if !n.seen[name] && n.branches == 0 {
			n.unset = append(n.unset, name)
		}
		n.seen[name] = true
	}
}
