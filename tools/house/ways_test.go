package house

import (
	"fmt"
	"go/ast"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// waysPage lists the functions that some things pass on their ways.
const waysPage = "../../docs/architecture.md"

// step matches the functions of one package in the list: `loadgen/engine`: `queue.pull`, `Open`.
var step = regexp.MustCompile("`([a-z0-9/]+)`: ((?:`[A-Za-z0-9_.]+`(?:, )?)+)")

// astray finds steps of the ways that are no functions, and ways that have another number of steps than they say, or a
// page with another number of ways. It does not know whether a step calls the next one.
func (h *house) astray(page string, ways int) (found []string) {
	functions := h.functions()
	listed := 0
	for row := range strings.Lines(page) {
		cells := strings.Split(row, " | ")
		if len(cells) != 3 || !step.MatchString(cells[1]) {
			continue
		}
		listed++
		n := 0
		for _, of := range step.FindAllStringSubmatch(cells[1], -1) {
			for name := range strings.SplitSeq(of[2], ", ") {
				n++
				if name := of[1] + "." + strings.Trim(name, "`"); !functions[name] {
					found = append(found, "way: there is no function "+name)
				}
			}
		}
		if !strings.HasSuffix(cells[1], fmt.Sprintf(": %d", n)) {
			found = append(found, fmt.Sprintf("way: %s has %d steps", strings.TrimPrefix(cells[0], "| "), n))
		}
	}
	if listed != ways {
		found = append(found, fmt.Sprintf("way: the page has %d, not %d", listed, ways))
	}
	return found
}

// functions are all functions and methods, after their packages.
func (h *house) functions() map[string]bool {
	all := map[string]bool{}
	for _, r := range h.rooms {
		for _, s := range r.sources {
			for _, d := range s.syntax.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				name := f.Name.Name
				if f.Recv != nil {
					name = receiver(f) + "." + name
				}
				all[r.path+"."+name] = true
			}
		}
	}
	return all
}

func TestStepsThatAreNoFunctionsAreFound(t *testing.T) {
	h := build(t, fstest.MapFS{
		"docs/metrics.md": {Data: []byte("words")},
		"a/a.go":          {Data: []byte("package a\n\ntype T struct{}\n\nfunc (*T) M() {}\n\nfunc F() {}\n")},
	})
	const page = "| x | `a`: `F`, `T.M`: 2 | 3 |\n| y | `a`: `T.N`; `b`: `F`; `a`: `F`: 2 | 3 |\n"
	want := []string{"way: there is no function a.T.N", "way: there is no function b.F", "way: y has 3 steps", "way: the page has 2, not 3"}
	if diff := cmp.Diff(want, h.astray(page, 3)); diff != "" {
		t.Error(diff)
	}
}

// ways is the text of the page.
func ways(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(waysPage)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}
