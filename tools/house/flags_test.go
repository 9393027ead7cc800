package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// library are the packages of loadgen that a Go program uses without a command line, and commands those that read one
// or make one.
var (
	library  = regexp.MustCompile(`^loadgen(/|$)`)
	commands = regexp.MustCompile(`^loadgen/(sim|selftest|sweep)(/|$)`)
)

// aFlag is a flag in a text.
var aFlag = regexp.MustCompile(`(?:^|[^\w-])(--[a-z][\w-]*)`)

// strangers are flags of other programs, which a library may name.
var strangers = map[string]string{
	"--enable-sleep-mode":  "vLLM",
	"--profiler-config":    "vLLM",
	"--query-gpu":          "nvidia-smi",
	"--query-compute-apps": "nvidia-smi",
	"--format":             "nvidia-smi",
	"--id":                 "nvidia-smi",
	"--gpu-power":          "servebench sim, as a command to start",
}

// flags are the flags that texts of the library name, each once for a file. A setting has a name in package naming,
// which the command spells as a flag.
func (h *house) flags() (found []string) {
	for _, r := range h.rooms {
		if !library.MatchString(r.path) || commands.MatchString(r.path) {
			continue
		}
		for _, s := range r.sources {
			ast.Inspect(s.syntax, func(n ast.Node) bool {
				text, ok := n.(*ast.BasicLit)
				if !ok || text.Kind != token.STRING {
					return true
				}
				words, err := strconv.Unquote(text.Value)
				if err != nil {
					return true
				}
				for _, m := range aFlag.FindAllStringSubmatch(words, -1) {
					found = append(found, fmt.Sprintf("%s names %s", path.Join(r.path, s.name), m[1]))
				}
				return true
			})
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// onlyStrangers makes sure that texts of the library name flags of other programs alone, and each of these.
func onlyStrangers(t *testing.T, found []string) {
	t.Helper()
	named := map[string]bool{}
	for _, f := range found {
		flag := aFlag.FindStringSubmatch(f)[1]
		if named[flag] = true; strangers[flag] == "" {
			t.Errorf("flags: %s: name a setting as package naming does", f)
		}
	}
	for flag := range strangers {
		if !named[flag] {
			t.Errorf("flags: nothing names %s any more", flag)
		}
	}
}

func TestFlagsInTextsAreFound(t *testing.T) {
	const texts = "package p\n\n// --comment\nvar Texts = []string{\"give --a-b, or (--c)\", `--raw=1 --a-b`, \"a--b\", \"-x\", \"---\", \"--\", \"--%s\"}\n"
	h := build(t, fstest.MapFS{
		"docs/metrics.md":           {},
		"go.mod":                    {Data: []byte("module " + module + "\n\ngo 1.26\n")},
		"cmd/texts.go":              {Data: []byte(texts)},
		"loadgen/texts.go":          {Data: []byte(texts)},
		"loadgen/wire/texts.go":     {Data: []byte("package wire\n\nvar Text = \"set --max-concurrency\"\n")},
		"loadgen/simple/texts.go":   {Data: []byte("package simple\n\nvar Text = \"--simple\"\n")},
		"loadgen/sim/texts.go":      {Data: []byte(texts)},
		"loadgen/sweep/in/texts.go": {Data: []byte(texts)},
	})
	want := []string{
		"loadgen/simple/texts.go names --simple", "loadgen/texts.go names --a-b", "loadgen/texts.go names --c",
		"loadgen/texts.go names --raw", "loadgen/wire/texts.go names --max-concurrency",
	}
	if diff := cmp.Diff(want, h.flags()); diff != "" {
		t.Error(diff)
	}
}
