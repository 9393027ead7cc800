package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// Sizes above which a noun may be missing. What is larger is in testdata/sizes.txt, and
// may only shrink.
const (
	packageLines  = 3500
	structFields  = 20 // with those of embedded structs
	structMethods = 20
)

// exempt are the sizes that no missing noun explains, and why.
var exempt = map[string]string{
	"metrics/trust.judge methods":          "a table of functions, one for each check",
	"metrics.Config fields":                "the configuration in the run line of a record stream",
	"metrics.Header fields":                "the run line of a record stream",
	"metrics.plainConfig fields":           "a Config as JSON",
	"metrics.wireConfig fields":            "a Config as JSON",
	"metrics/compare/brief.Run fields":     "a run in the file of a baseline",
	"metrics/record.Field fields":          "a row of accessors, one for each kind of field",
	"metrics/record.form fields":           "a row of accessors, one for each kind of field",
	"metrics/stream.runLine fields":        "a line of the record stream",
	"dataset/jinja/program.parser methods": "a function for each production of the grammar",
	"dataset/replay.promptLine fields":     "a line of a file of prompts",
	"loadgen/selftest.Row fields":          "an object of the selftest's JSON",
	"report/export.runRow fields":          "the columns of a table",
}

// sizes are the lines of packages and the fields and methods of structs that are above
// those sizes. Lines are in hundreds, rounded up, so that a package on the list has some room.
func (h *house) sizes() map[string]int {
	found := map[string]int{}
	note := func(name string, n, most int) {
		if n > most {
			found[name] = n
		}
	}
	for _, r := range h.rooms {
		lines := 0
		for _, s := range r.sources {
			lines += s.lines
		}
		note(r.path+" lines", (lines+99)/100*100, packageLines)
		methods := r.methodsOf()
		for _, name := range r.types.Scope().Names() {
			declared, ok := r.types.Scope().Lookup(name).(*types.TypeName)
			if !ok {
				continue
			}
			if s, ok := declared.Type().Underlying().(*types.Struct); ok {
				note(fmt.Sprintf("%s.%s fields", r.path, name), fields(s), structFields)
				note(fmt.Sprintf("%s.%s methods", r.path, name), methods[name], structMethods)
			}
		}
	}
	return found
}

// fields counts those of a struct. For a struct of this house that it embeds, it counts the fields of that.
func fields(s *types.Struct) (n int) {
	for f := range s.Fields() {
		t := f.Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		embedded, ok := t.Underlying().(*types.Struct)
		if ok && f.Embedded() && strings.HasPrefix(fmt.Sprint(t), module+"/") {
			n += fields(embedded)
			continue
		}
		n++
	}
	return n
}

// methodsOf counts the methods of each type, by its name.
func (r *room) methodsOf() map[string]int {
	count := map[string]int{}
	for _, s := range r.sources {
		for _, d := range s.syntax.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && s.built {
				count[receiver(f)]++
			}
		}
	}
	return count
}

// onlySmaller makes sure that a file lists each size that was found, or a larger one.
func onlySmaller(t *testing.T, file string, found map[string]int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]int{}
	for _, line := range lines(string(text)) {
		name, n, _ := strings.Cut(line, ": ")
		if listed[name], err = strconv.Atoi(n); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	for _, problem := range grown(listed, found) {
		t.Errorf("%s (%s may only shrink)", problem, file)
	}
	if *update {
		var b bytes.Buffer
		for _, name := range slices.Sorted(maps.Keys(found)) {
			if was, ok := listed[name]; ok {
				fmt.Fprintf(&b, "%s: %d\n", name, min(was, found[name]))
			}
		}
		if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, problem := range grown(found, listed) {
		t.Errorf("the list has more: %s; go -C tools test ./house -update", problem)
	}
}

// grown says what of found is not listed, or larger than listed.
func grown(listed, found map[string]int) (problems []string) {
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if n := found[name]; n > listed[name] {
			problems = append(problems, fmt.Sprintf("%s: %d", name, n))
		}
	}
	return problems
}

func TestSizesAreFound(t *testing.T) {
	var source strings.Builder
	fmt.Fprintf(&source, "package a\n\ntype inner struct {\n%s}\n\ntype outer struct {\n\t*inner\n\tlast int\n}\n\n",
		strings.Repeat("\t_ int\n", structFields))
	for i := range structMethods + 1 {
		fmt.Fprintf(&source, "func (*inner) method%d() {}\n", i)
	}
	source.WriteString("\nvar _ = outer{}.last\n" + strings.Repeat("\n", packageLines))
	h := build(t, fstest.MapFS{"docs/metrics.md": {}, "a/a.go": {Data: []byte(source.String())}})
	want := map[string]int{"a lines": 3600, "a.outer fields": structFields + 1, "a.inner methods": structMethods + 1}
	if diff := cmp.Diff(want, h.sizes()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSizesMayOnlyShrink(t *testing.T) {
	listed := map[string]int{"same": 30, "less": 30, "more": 30}
	found := map[string]int{"same": 30, "less": 29, "more": 31, "new": 21}
	if problems := grown(listed, found); !slices.Equal(problems, []string{"more: 31", "new: 21"}) {
		t.Errorf("%q", problems)
	}
	if problems := grown(found, listed); !slices.Equal(problems, []string{"less: 30"}) {
		t.Errorf("%q", problems)
	}
}
