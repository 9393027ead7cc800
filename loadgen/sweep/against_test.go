package sweep

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// documented writes a document of two result blocks, and returns its name.
func documented(t *testing.T) string {
	t.Helper()
	const block = "============ Serving Benchmark Result ============\nSuccessful requests: 5\nMean TTFT (ms): 20.00\n==========\n"
	name := filepath.Join(t.TempDir(), "doc.md")
	if err := os.WriteFile(name, []byte("# Without\n"+block+"# With\n"+block), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

const armed = `grid: {num-prompts: [5, 50], request-rate: [1, inf]}
arms:
  - {name: one, url: "http://127.0.0.1:1"}
  - {name: two, url: "http://127.0.0.1:2", load: {max-concurrency: 3}, grid: {request-rate: [7]}}
`

func TestBlocksChooseOneLoadOfOneArm(t *testing.T) {
	doc := documented(t)
	p := parse(t, armed+strings.ReplaceAll(`against:
  - {blocks: DOC:2, arm: one, load: {num-prompts: 50, request-rate: inf}}
  - {blocks: DOC:1-2, arm: two}`, "DOC", doc))
	for i, want := range []struct {
		arm, point, blocks, number int
		said                       string
	}{{0, 3, 1, 2, "one, num-prompts 50, request-rate inf"}, {1, 4, 2, 1, "two"}} {
		a := p.Against[i]
		if a.arm != want.arm || a.point != want.point || len(a.Blocks) != want.blocks || a.Blocks[0].Source.Origin.Number != want.number || a.said != want.said {
			t.Errorf("entry %d is %+v, want %+v", i+1, a, want)
		}
	}
	if same := parse(t, armed); same.digest() != p.digest() {
		t.Error("a document makes another experiment of the same runs")
	}
}

func TestBlocksWithoutRunsAreRefused(t *testing.T) {
	doc := documented(t)
	for entry, want := range map[string]string{
		`{arm: one}`:                                        "line 6: against: blocks: it must name blocks of a document, as FILE:2",
		`{blocks: nowhere.md:1, arm: one}`:                  "against: blocks: stat nowhere.md: no such file or directory",
		`{blocks: DOC:3, arm: one}`:                         "against: blocks: DOC:3: DOC has 2 runs",
		`{blocks: DOC, arm: one}`:                           "against: blocks: DOC has 2 blocks: choose by number, as DOC:2 or DOC:2-5",
		`{blocks: DOC:1}`:                                   `against: arm: there is no arm "": there are one, two`,
		`{blocks: DOC:1, arm: three}`:                       `against: arm: there is no arm "three": there are one, two`,
		`{blocks: DOC:1, arm: one}`:                         "against: load: choose one load of arm one, such as by load: {num-prompts: 100}: there are one, num-prompts 5, request-rate 1; ",
		`{blocks: DOC:1, arm: one, load: {num-prompts: 6}}`: "against: load: no run of arm one has num-prompts 6: there are one, num-prompts 5, request-rate 1; ",
		`{blocks: DOC:1, arm: two, target: a}`:              `against: target: "a": arm two has no targets`,
		`{blocks: DOC:1, arm: two, loud: a}`:                "against: loud: an entry of against has no such key",
	} {
		text := armed + "against:\n  - " + strings.ReplaceAll(entry, "DOC", doc)
		_, err := Parse("plan.yaml", strings.NewReader(text), &Flags{Words: anyFlag, Load: anyLoad})
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), doc, "DOC"), strings.TrimPrefix(want, "line 6: ")) || !strings.HasPrefix(err.Error(), "plan.yaml:6: ") {
			t.Errorf("%s: %v, want %s", entry, err, want)
		}
	}
}
