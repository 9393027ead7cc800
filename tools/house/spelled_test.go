package house

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// catalogues may spell units and labels: the catalogue of numbers with its types and its aspects, and vLLM's own texts.
var catalogues = regexp.MustCompile(`^metrics(/catalogue|/aspect/\w+|/vllm)?$`)

// ofNumbers are the units of rates and the labels of latencies.
var ofNumbers = regexp.MustCompile(`\b(req|tok|inputs|sessions)/s\b|\bJ/(output )?tok\b|\b([Mm]ean|[Mm]edian|P\d+) (TTFT|TTFO|TPOT|ITL|E2EL)\b`)

// spelled counts the texts of each file with a unit or a label of a number, outside the catalogue and the commands'
// help.
func (h *house) spelled() map[string]int {
	found := map[string]int{}
	for _, r := range h.rooms {
		if catalogues.MatchString(r.path) || !strings.HasPrefix(r.path, "metrics/") && !strings.HasPrefix(r.path+"/", "report/") {
			continue
		}
		for _, s := range r.sources {
			ast.Inspect(s.syntax, func(n ast.Node) bool {
				text, ok := n.(*ast.BasicLit)
				if !ok || text.Kind != token.STRING {
					return true
				}
				if words, err := strconv.Unquote(text.Value); err == nil && ofNumbers.MatchString(words) {
					found[path.Join(r.path, s.name)]++
				}
				return true
			})
		}
	}
	return found
}

// statistics are the methods that make a number of a latency, and latencies the fields of a run that hold one.
var (
	statistics = regexp.MustCompile(`^(Mean|Median|Std|Percentile)$`)
	latencies  = regexp.MustCompile(`^(TTFT|TTFO|TPOT|ITL|E2EL|Queue|QueuedE2EL|Lag)$`)
)

// formulas counts the numbers that each file makes by itself, outside the catalogue: statistics of a run's latencies, and
// what it divides by a run's seconds.
func (h *house) formulas() map[string]int {
	found := map[string]int{}
	for _, r := range h.rooms {
		if catalogues.MatchString(r.path) || strings.HasPrefix(r.path, "tools") {
			continue
		}
		for _, s := range r.sources {
			ast.Inspect(s.syntax, func(n ast.Node) bool {
				if isFormula(n) {
					found[path.Join(r.path, s.name)]++
				}
				return true
			})
		}
	}
	return found
}

func isFormula(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		method, ok := n.Fun.(*ast.SelectorExpr)
		if !ok || !statistics.MatchString(method.Sel.Name) {
			return false
		}
		of, ok := method.X.(*ast.SelectorExpr)
		return ok && latencies.MatchString(of.Sel.Name)
	case *ast.BinaryExpr:
		by, ok := n.Y.(*ast.SelectorExpr)
		return ok && n.Op == token.QUO && by.Sel.Name == "Seconds"
	}
	return false
}

func TestFormulasOfNumbersAreFound(t *testing.T) {
	const fields = `package metrics

type Distribution struct{}

func (Distribution) Mean() float64 { return 0 }
func (Distribution) Len() int      { return 0 }

type Summary struct {
	TTFT    Distribution
	Seconds float64
}

type Window struct{}

func (Window) Seconds() float64 { return 0 }
`
	const numbers = `import "` + module + `/metrics"

func numbers(s metrics.Summary, w metrics.Window, d metrics.Distribution) []float64 {
	return []float64{s.TTFT.Mean(), 7 / s.Seconds, float64(s.TTFT.Len()), d.Mean(), 7 / w.Seconds()}
}
`
	h := build(t, fstest.MapFS{
		"docs/metrics.md":           {},
		"go.mod":                    {Data: []byte("module " + module + "\n\ngo 1.26\n")},
		"metrics/metrics.go":        {Data: []byte(fields)},
		"report/report.go":          {Data: []byte("package report\n\n" + numbers)},
		"loadgen/loadgen.go":        {Data: []byte("package loadgen\n\n" + numbers)},
		"metrics/catalogue/core.go": {Data: []byte("package catalogue\n\n" + numbers)},
	})
	if diff := cmp.Diff(map[string]int{"report/report.go": 2, "loadgen/loadgen.go": 2}, h.formulas()); diff != "" {
		t.Error(diff)
	}
}

func TestSpelledNumbersAreFound(t *testing.T) {
	h := build(t, fstest.MapFS{
		"docs/metrics.md":           {},
		"go.mod":                    {Data: []byte("module " + module + "\n\ngo 1.26\n")},
		"report/report.go":          {Data: []byte("package report\n\n// tok/s in a comment\nvar Heads = []string{\"output tok/s\", \"mean TTFT ms\", \"mean_ttft_ms\", \"tokens\", `P95 ITL`}\n")},
		"metrics/catalogue/core.go": {Data: []byte("package catalogue\n\nvar Unit = \"req/s\"\n")},
		"loadgen/loadgen.go":        {Data: []byte("package loadgen\n\nvar Unit = \"req/s\"\n")},
	})
	if diff := cmp.Diff(map[string]int{"report/report.go": 3}, h.spelled()); diff != "" {
		t.Error(diff)
	}
}
