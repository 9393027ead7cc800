package house

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/loadgen/api"
)

// namers may ask for a name: APIs and datasets themselves, and the simulator, which knows no other package.
var namers = regexp.MustCompile(`^(loadgen/api|loadgen/sim|dataset|tools)(/|$)`)

// named counts where each file asks for the name of a backend or of a dataset, instead of a trait.
func (h *house) named() map[string]int {
	names := map[string]bool{}
	for _, name := range append(api.Names(), kinds.Names(0)...) {
		names[name] = true
	}
	found := map[string]int{}
	for _, r := range h.rooms {
		if namers.MatchString(r.path) {
			continue
		}
		for _, s := range r.sources {
			ast.Inspect(s.syntax, func(n ast.Node) bool {
				for _, text := range asked(n) {
					if names[text] {
						found[path.Join(r.path, s.name)]++
					}
				}
				return true
			})
		}
	}
	return found
}

// asked are the texts that a comparison, a case or the list of a search asks for.
func asked(n ast.Node) (texts []string) {
	var values []ast.Expr
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if n.Op == token.EQL || n.Op == token.NEQ {
			values = []ast.Expr{n.X, n.Y}
		}
	case *ast.CaseClause:
		values = n.List
	case *ast.CallExpr:
		if called, ok := n.Fun.(*ast.SelectorExpr); ok && called.Sel.Name == "Contains" && len(n.Args) > 0 {
			if list, ok := n.Args[0].(*ast.CompositeLit); ok {
				values = list.Elts
			}
		}
	}
	for _, v := range values {
		if literal, ok := v.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

func TestQuestionsForNamesAreFound(t *testing.T) {
	const questions = `package cmd

import "slices"

func ask(api string) bool {
	switch api {
	case "hf", "nothing":
		return true
	}
	names := []string{"openai"}
	return api == "openai-chat" || slices.Contains([]string{"anthropic", "other"}, api) || slices.Contains(names, api)
}
`
	h := build(t, fstest.MapFS{
		"docs/metrics.md": {},
		"go.mod":          {Data: []byte("module " + module + "\n\ngo 1.26\n")},
		"cmd/ask.go":      {Data: []byte(questions)},
		"dataset/ask.go":  {Data: []byte(questions)},
	})
	if diff := cmp.Diff(map[string]int{"cmd/ask.go": 3}, h.named()); diff != "" {
		t.Error(diff)
	}
}
