package house

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const (
	leastLines  = 25  // of a file that is for all systems
	mostMethods = 12  // of a type in a command
	mostFields  = 15  // of a type in a command
	mostColumns = 100 // of a line with a field and its comment
	widest      = 120 // columns of a line, unless it has a literal in backquotes
)

// breaches are what breaks a rule, in order. The table says who may import whom.
func (h *house) breaches(table string) (found []string) {
	found = h.imports(table)
	words := h.words()
	for _, r := range h.rooms {
		found = append(found, r.size()...)
		found = append(found, r.example()...)
		for _, s := range r.sources {
			for _, d := range s.syntax.Decls {
				found = append(found, h.declaration(r, d, words)...)
			}
		}
		if r.types.Name() == "main" {
			found = append(found, r.methods()...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// imports holds the packages against a table of lines "PACKAGE: PACKAGE…". One that ends
// in /... stands for all below it, too, and ... for all.
func (h *house) imports(table string) (found []string) {
	may := map[string][]string{}
	for line := range strings.Lines(table) {
		if name, others, ok := strings.Cut(line, ":"); ok && line[0] != '#' {
			may[name] = strings.Fields(others)
		}
	}
	there := map[string]bool{}
	for _, r := range h.rooms {
		there[r.path] = true
		others, ok := may[r.path]
		if !ok {
			found = append(found, "imports: the table lacks "+r.path)
			continue
		}
		for _, name := range r.imports() {
			if !slices.ContainsFunc(others, func(pattern string) bool { return covers(pattern, name) }) {
				found = append(found, fmt.Sprintf("imports: %s imports %s", r.path, name))
			}
		}
	}
	for name := range may {
		if !there[name] {
			found = append(found, "imports: there is no "+name)
		}
	}
	return found
}

func covers(pattern, name string) bool {
	base, below := strings.CutSuffix(pattern, "...")
	base = strings.TrimSuffix(base, "/")
	return name == base || below && (base == "" || strings.HasPrefix(name, base+"/"))
}

// imports are the packages of the house that a room imports, on any system.
func (r *room) imports() (all []string) {
	for _, s := range r.sources {
		for _, i := range s.syntax.Imports {
			if name, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module+"/"); ok {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// size finds files of too few lines, and lines that are too wide.
func (r *room) size() (found []string) {
	for _, s := range r.sources {
		for _, n := range s.wide {
			found = append(found, fmt.Sprintf("width: %s:%d has more than %d columns", path.Join(r.path, s.name), n, widest))
		}
		if s.lines < leastLines && !s.tagged && s.name != "doc.go" {
			found = append(found, fmt.Sprintf("lines: %s has fewer than %d", path.Join(r.path, s.name), leastLines))
		}
	}
	return found
}

// example finds a package that exports names and has no example that runs.
func (r *room) example() []string {
	runs := func(e *doc.Example) bool { return e.Output != "" || e.EmptyOutput }
	if r.types.Name() == "main" || len(exported(r.types)) == 0 || slices.ContainsFunc(doc.Examples(r.tests...), runs) {
		return nil
	}
	return []string{fmt.Sprintf("example: %s has none with an Output comment", r.path)}
}

// methods finds the types of a command that have too many.
func (r *room) methods() (found []string) {
	count := map[string]int{}
	for _, s := range r.sources {
		for _, d := range s.syntax.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				count[receiver(f)]++
			}
		}
	}
	for name, n := range count {
		if n > mostMethods {
			found = append(found, fmt.Sprintf("methods: %s.%s has more than %d", r.path, name, mostMethods))
		}
	}
	return found
}

// receiver is the name of the type that f is a method of, without its parameters.
func receiver(f *ast.FuncDecl) string {
	x := ast.Unparen(f.Recv.List[0].Type)
	if star, ok := x.(*ast.StarExpr); ok {
		x = star.X
	}
	if generic, ok := x.(*ast.IndexExpr); ok {
		x = generic.X
	}
	return fmt.Sprint(x)
}

// declaration finds structs of commands with too many fields, comments that trail too far
// behind their fields, and exported names with a word that the glossary has another for.
func (h *house) declaration(r *room, d ast.Decl, words map[string]string) (found []string) {
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			found = append(found, synonyms(r, n.Name.Name, words)...)
		case *ast.BlockStmt, *ast.FuncType:
			return false
		case *ast.ValueSpec:
			for _, name := range n.Names {
				found = append(found, synonyms(r, name.Name, words)...)
			}
		case *ast.TypeSpec:
			found = append(found, synonyms(r, n.Name.Name, words)...)
			if s, ok := n.Type.(*ast.StructType); ok && r.types.Name() == "main" && s.Fields.NumFields() > mostFields {
				found = append(found, fmt.Sprintf("fields: %s.%s has more than %d", r.path, n.Name, mostFields))
			}
		case *ast.Field:
			for _, name := range n.Names {
				found = append(found, synonyms(r, name.Name, words)...)
			}
			if n.Comment != nil && h.files.Position(n.Comment.End()).Column > mostColumns+1 {
				found = append(found, fmt.Sprintf("comment: %s has one behind a field that goes past column %d", h.files.Position(n.Pos()).Filename, mostColumns))
			}
		}
		return true
	})
	return found
}

// row is a line of the glossary's table: a word, what it is, its unit, what it is not called.
var row = regexp.MustCompile("(?m)^\\| (\\w+) \\|.*\\| ((?:`\\w+`(?:, )?)+) \\|$")

// words are those that the glossary has another word for, and which.
func (h *house) words() map[string]string {
	words := map[string]string{}
	for _, line := range row.FindAllStringSubmatch(h.glossary, -1) {
		for _, synonym := range strings.Split(line[2], ", ") {
			words[strings.Trim(synonym, "`")] = line[1]
		}
	}
	return words
}

// synonyms finds such words in an exported name.
func synonyms(r *room, name string, words map[string]string) (found []string) {
	if !token.IsExported(name) {
		return nil
	}
	for _, part := range parts(name) {
		for _, form := range []string{part, strings.TrimSuffix(part, "s")} {
			if word, ok := words[form]; ok {
				found = append(found, fmt.Sprintf("word: %s.%s says %s, the glossary %s", r.path, name, form, word))
			}
		}
	}
	return found
}

// parts are the words of a name in mixed caps, in lower case.
func parts(name string) (all []string) {
	runes := []rune(name)
	start := 0
	for i := range runes {
		last := i == len(runes)-1
		if last || !unicode.IsUpper(runes[i]) && unicode.IsUpper(runes[i+1]) ||
			unicode.IsUpper(runes[i]) && unicode.IsUpper(runes[i+1]) && i+2 < len(runes) && unicode.IsLower(runes[i+2]) {
			all = append(all, strings.ToLower(string(runes[start:i+1])))
			start = i + 1
		}
	}
	return all
}
