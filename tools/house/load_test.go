package house

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	gobuild "go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

const module = "github.com/servebench/servebench"

// A house is the packages of the product and of its tools, checked for types.
type house struct {
	files    *token.FileSet
	glossary string
	rooms    []*room
	outside  types.Importer // of other modules
	errs     []error        // of the sources
}

// A room is one package and its tests.
type room struct {
	path    string // below the product's
	sources []*source
	tests   []*ast.File
	types   *types.Package // of the sources that this system builds; nil until they are checked
	info    *types.Info
}

// A source is a file that is not a test.
type source struct {
	name   string
	lines  int
	wide   []int // numbers of lines that are too wide
	tagged bool  // for some systems only
	built  bool  // on this one
	syntax *ast.File
}

// build reads the packages of the product and of tools, without those of other modules within them.
func build(t *testing.T, root fs.FS) *house {
	t.Helper()
	outside, err := dependencies()
	if err != nil {
		t.Fatal(err)
	}
	glossary, err := fs.ReadFile(root, "docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	h := &house{files: token.NewFileSet(), glossary: string(glossary), outside: outside}
	if err := h.walk(root); err != nil {
		t.Fatal(err)
	}
	h.rooms = slices.DeleteFunc(h.rooms, func(r *room) bool { return len(r.sources) == 0 })
	for _, r := range h.rooms {
		h.check(r)
	}
	if len(h.errs) > 0 {
		t.Fatal(errors.Join(h.errs...))
	}
	return h
}

// walk reads the files of all rooms.
func (h *house) walk(root fs.FS) error {
	at := map[string]*room{}
	return fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." {
			if _, err := fs.Stat(root, path.Join(name, "go.mod")); err == nil && name != "tools" || d.Name() == "testdata" || name == "bin" || name == "dist" || d.Name()[0] == '.' {
				return fs.SkipDir
			}
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		dir := path.Dir(name)
		if at[dir] == nil {
			at[dir] = &room{path: dir}
			h.rooms = append(h.rooms, at[dir])
		}
		return h.read(root, at[dir], name)
	})
}

// read adds a file to its room.
func (h *house) read(root fs.FS, r *room, name string) error {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return err
	}
	syntax, err := parser.ParseFile(h.files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if strings.HasSuffix(name, "_test.go") {
		r.tests = append(r.tests, syntax)
		return nil
	}
	match := func(system string) bool {
		c := gobuild.Default
		c.GOOS, c.OpenFile = system, func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
		ok, err := c.MatchFile(path.Dir(name), path.Base(name))
		return ok && err == nil
	}
	r.sources = append(r.sources, &source{
		name: path.Base(name), lines: bytes.Count(text, []byte("\n")), wide: h.wide(text, syntax), syntax: syntax,
		built: match(runtime.GOOS), tagged: !match("none") || bytes.Contains(text, []byte("//go:build ")),
	})
	return nil
}

// wide are the numbers of the lines that are too wide and have no literal in backquotes, which cannot be broken.
func (h *house) wide(text []byte, syntax *ast.File) (numbers []int) {
	raw := map[int]bool{}
	ast.Inspect(syntax, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Value[0] == '`' {
			from := h.files.Position(l.Pos()).Line
			for i := range 1 + strings.Count(l.Value, "\n") {
				raw[from+i] = true
			}
		}
		return true
	})
	number := 0
	for line := range strings.Lines(string(text)) {
		if number++; utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > widest && !raw[number] {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// Import gives the packages of the house and, by outside, all others.
func (h *house) Import(name string) (*types.Package, error) {
	if below, ok := strings.CutPrefix(name, module+"/"); ok {
		for _, r := range h.rooms {
			if r.path == below {
				return h.check(r), nil
			}
		}
		return nil, fmt.Errorf("there is no package %s", name)
	}
	return h.outside.Import(name)
}

// check checks the types of a room, once.
func (h *house) check(r *room) *types.Package {
	if r.types == nil {
		var built []*ast.File
		for _, s := range r.sources {
			if s.built {
				built = append(built, s.syntax)
			}
		}
		r.types, r.info = h.typed(path.Join(module, r.path), built, func(err error) { h.errs = append(h.errs, err) })
	}
	return r.types
}

func (h *house) typed(name string, files []*ast.File, wrong func(error)) (*types.Package, *types.Info) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: h, Error: wrong}
	checked, _ := config.Check(name, h.files, files, info) // whose error wrong has got
	return checked, info
}

// dependencies imports what is not in the house as the go command has compiled it.
var dependencies = sync.OnceValues(func() (types.Importer, error) {
	compiled := map[string]string{}
	for _, root := range []string{"..", "../.."} {
		cmd := exec.Command("go", "-C", root, "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./...")
		var talk bytes.Buffer
		cmd.Stderr = &talk
		list, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list in %s: %w\n%s", root, err, &talk)
		}
		for line := range strings.Lines(string(list)) {
			name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
			compiled[name] = file
		}
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(name string) (io.ReadCloser, error) { return os.Open(compiled[name]) }), nil
})
