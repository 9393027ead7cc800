package against

import (
	"bytes"
	"flag"
	"testing"

	"github.com/servebench/servebench/metrics/published"
	"github.com/servebench/servebench/report/reporttest"
	"github.com/servebench/servebench/report/screen"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// besides are two blocks of a document next to runs: of one run, and of several.
func besides() []*published.Block {
	return []*published.Block{
		{Document: "doc.md", Number: 2, Runs: "without", Count: 3, Numbers: []published.Number{
			{Name: "duration", Unit: "s", Document: 103.7, Here: 10.41, Least: 10.4, Most: 10.55, Ratio: 10.41 / 103.7},
			{Name: "p99_ttft", Unit: "ms", Document: 35.52, Here: 74.38, Least: 71.2, Most: 80, Ratio: 74.38 / 35.52, Few: true},
		}, Notes: []string{"the loads differ: 100 prompts here, 1000 in the document; 215 prompt tokens a request here, 210 in the document"}},
		{Document: "doc.md", Number: 1, Runs: "with, target a", Count: 1, Numbers: []published.Number{
			{Name: "output_throughput", Unit: "tok/s", Document: 12, Here: 1500, Least: 1500, Most: 1500, Ratio: 125},
			{Name: "mean_tpot", Unit: "ms", Document: 16.33, Here: 0.1, Least: 0.1, Most: 0.1, Ratio: 0.1 / 16.33},
		}},
		{Document: "other.md", Number: 1, GPU: "H100", Model: "m", Runs: "server", Count: 1, Simulated: true, Numbers: []published.Number{
			{Name: "mean_tpot", Unit: "ms", Document: 2, Here: 30, Least: 30, Most: 30, Ratio: 15},
		}},
	}
}

func TestBlocksOfDocumentsStandNextToRuns(t *testing.T) {
	for name, shown := range map[string]screen.Screen{
		"against.md": {}, "against-120.txt": {Width: 120}, "against-72.txt": {Width: 72},
	} {
		var b bytes.Buffer
		if err := Write(&b, besides(), shown); err != nil {
			t.Fatal(err)
		}
		reporttest.Golden(t, *update, name, b.Bytes())
	}
}

func TestNothingIsWrittenWithoutADocument(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, nil, screen.Screen{}); err != nil || b.Len() > 0 {
		t.Errorf("%v: %q", err, &b)
	}
}

// A terminal of any width loses no block.
func TestAnyWidthShowsEverything(t *testing.T) {
	for _, width := range reporttest.Widths() {
		var b bytes.Buffer
		if err := Write(&b, besides(), screen.Screen{Width: width, Color: width%2 == 0}); err != nil {
			t.Errorf("%d columns: %v", width, err)
		}
	}
}
