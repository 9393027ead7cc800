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
