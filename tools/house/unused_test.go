package house

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// unused are the exported functions, types, variables, constants and methods that no other
// package uses. One uses what it names, and with a name what that is made of: the
// types that it is declared with, the constants of a type, and the methods that an
// interface asks of it. Tests do not count. Examples do, as other programs. Packages for tests are left out: the
// linter finds what no test uses.
func (h *house) unused() (found []string) {
	u := usage{house: h, used: map[types.Object]bool{}}
	for _, r := range h.rooms {
		u.from(r.types, r.info)
		if example, info := h.examples(r); info != nil {
			u.from(example, info)
		}
	}
	asked := h.interfaces()
	for _, r := range h.rooms {
		if forTests(r.types) {
			continue
		}
		for _, o := range exported(r.types) {
			if !u.used[o] && !u.used[enumerated(o)] {
				found = append(found, strings.TrimPrefix(o.Pkg().Path(), module+"/")+"."+o.Name())
				continue
			}
			for _, m := range methods(o) {
				if !u.used[m] && !asked.of(o.Type(), m.Name()) {
					found = append(found, strings.TrimPrefix(o.Pkg().Path(), module+"/")+"."+o.Name()+"."+m.Name())
				}
			}
		}
	}
	slices.Sort(found)
	return found
}

// forTests reports whether a package is for tests alone, as httptest is.
func forTests(p *types.Package) bool {
	return p.Name() != "loadtest" && strings.HasSuffix(p.Name(), "test")
}

// examples checks the files with examples of a room as a package of their own. What else
// they need of its tests is unknown and does not matter.
func (h *house) examples(r *room) (*types.Package, *types.Info) {
	var files []*ast.File
	for _, f := range r.tests {
		shows := func(d ast.Decl) bool {
			f, ok := d.(*ast.FuncDecl)
			return ok && strings.HasPrefix(f.Name.Name, "Example")
		}
		if strings.HasSuffix(f.Name.Name, "_test") && slices.ContainsFunc(f.Decls, shows) {
			files = append(files, f)
		}
	}
	if files == nil {
		return nil, nil
	}
	return h.typed(r.types.Path()+"_test", files, func(error) {})
}

// exported are the exported names of a package.
func exported(p *types.Package) (all []types.Object) {
	for _, name := range p.Scope().Names() {
		if token.IsExported(name) {
			all = append(all, p.Scope().Lookup(name))
		}
	}
	return all
}

// methods are the exported methods of o, if that is a type.
func methods(o types.Object) (all []types.Object) {
	named, ok := o.Type().(*types.Named)
	if _, declared := o.(*types.TypeName); !ok || !declared {
		return nil
	}
	for m := range named.Methods() {
		if m.Exported() {
			all = append(all, m)
		}
	}
	return all
}

// enumerated is the type of a constant, if that has a name.
func enumerated(o types.Object) types.Object {
	if _, ok := o.(*types.Const); ok {
		if named, ok := o.Type().(*types.Named); ok {
			return named.Obj()
		}
	}
	return nil
}

// A usage is what is used outside its package.
type usage struct {
	*house
	used map[types.Object]bool
}

// from takes note of what a package names.
func (u *usage) from(p *types.Package, info *types.Info) {
	for _, o := range info.Uses {
		if o.Pkg() != p {
			u.use(o)
		}
	}
}

// use takes note of o, and of what it is declared with.
func (u *usage) use(o types.Object) {
	switch x := o.(type) {
	case *types.Func:
		o = x.Origin()
	case *types.Var:
		o = x.Origin()
	}
	if o.Pkg() == nil || !strings.HasPrefix(o.Pkg().Path(), module+"/") || u.used[o] {
		return
	}
	u.used[o] = true
	u.useType(o.Type())
	if _, ok := o.(*types.TypeName); ok {
		u.useType(o.Type().Underlying())
	}
}

func (u *usage) useType(t types.Type) {
	switch t := t.(type) {
	case *types.Named:
		u.use(t.Origin().Obj())
		for arg := range t.TypeArgs().Types() {
			u.useType(arg)
		}
	case *types.Alias:
		u.use(t.Obj())
		u.useType(t.Rhs())
	case *types.Map:
		u.useType(t.Key())
		u.useType(t.Elem())
	case interface{ Elem() types.Type }: // a pointer, slice, array or channel
		u.useType(t.Elem())
	case *types.Signature:
		u.useType(t.Params())
		u.useType(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			u.useType(v.Type())
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			u.use(m)
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				u.useType(f.Type())
			}
		}
	}
}

// askers are interfaces by the names of their methods.
type askers map[string][]*types.Interface

// interfaces are those of the house and of all that it imports.
func (h *house) interfaces() askers {
	a := askers{}
	seen := map[*types.Package]bool{}
	var imported func(p *types.Package)
	imported = func(p *types.Package) {
		if seen[p] {
			return
		}
		seen[p] = true
		for _, name := range p.Scope().Names() {
			a.add(p.Scope().Lookup(name).Type())
		}
		for _, i := range p.Imports() {
			imported(i)
		}
	}
	for _, r := range h.rooms {
		imported(r.types)
		for e, t := range r.info.Types {
			if _, ok := e.(*ast.InterfaceType); ok {
				a.add(t.Type)
			}
		}
	}
	return a
}

func (a askers) add(t types.Type) {
	i, ok := t.Underlying().(*types.Interface)
	if !ok || !i.IsMethodSet() {
		return
	}
	for m := range i.Methods() {
		a[m.Name()] = append(a[m.Name()], i)
	}
}

// of says whether an interface asks for a method of t. Package errors asks for three by
// interfaces without a name.
func (a askers) of(t types.Type, method string) bool {
	if slices.Contains([]string{"Unwrap", "Is", "As"}, method) {
		return true
	}
	return slices.ContainsFunc(a[method], func(i *types.Interface) bool { return types.Implements(types.NewPointer(t), i) })
}
