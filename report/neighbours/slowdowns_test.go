package neighbours

import (
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/report/layout"
	"github.com/servebench/servebench/report/reporttest"
	"github.com/servebench/servebench/report/runs"
	"github.com/servebench/servebench/report/screen"
)

// repeated is the table of reporttest.Repeated.
func repeated() (t runs.Table) {
	for _, r := range reporttest.Repeated() {
		t.Rows = append(t.Rows, runs.Row{Labels: r.Labels, Summary: r.Summary})
	}
	return t
}

func TestSlowdownsHaveARowForEachTarget(t *testing.T) {
	var text strings.Builder
	if err := Slowdowns(&text, repeated(), screen.Screen{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| arm | target | pairs | mean TTFT ms | median TTFT ms | P99 TTFT ms | mean TPOT ms | P99 TPOT ms | output tok/s | requests req/s |",
		"| arm-0 | a | 2 | 2.00 × | 2.00 × | 2.00 ×* |", "| arm-1 | b | 2 | 3.00 × |", "above 1 is worse", "* " + layout.FewMeans(),
	} {
		if !strings.Contains(strings.Join(strings.Fields(text.String()), " "), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

// Without targets there is no slowdown.
func TestPlainRunsHaveNoSlowdowns(t *testing.T) {
	var text strings.Builder
	if err := Slowdowns(&text, runs.Table{Rows: repeated().Rows[:1]}, screen.Screen{}); err != nil || text.Len() > 0 {
		t.Errorf("%q, %v", text.String(), err)
	}
}

// A terminal of any width loses no slowdown.
func TestAnyWidthShowsSlowdowns(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	for name, s := range reporttest.Runs() {
		table := repeated()
		table.Rows = append(table.Rows, runs.Row{Summary: s, Labels: []metrics.KV{{Key: "arm", Value: "ein breiter Name, 名前 🚀"}}})
		for _, width := range reporttest.Widths() {
			var text strings.Builder
			if err := Slowdowns(&text, table, screen.Screen{Width: width, Color: width%2 == 0}); err != nil {
				t.Errorf("%s in %d columns: %v", name, width, err)
			}
		}
	}
}
