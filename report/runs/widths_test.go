package runs

import (
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/report/reporttest"
	"github.com/servebench/servebench/report/screen"
)

// A terminal of any width loses no result.
func TestAnyWidthShowsEverything(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	for name, s := range reporttest.Runs() {
		table := repeated()
		table.Rows = append(table.Rows, Row{Summary: s, Labels: []metrics.KV{{Key: "arm", Value: "ein breiter Name, 名前 🚀"}}})
		for _, width := range reporttest.Widths() {
			var text strings.Builder
			if err := table.Text(&text, width, "the rest"); err != nil {
				t.Errorf("the table of %s in %d columns: %v", name, width, err)
			}
			if err := table.Medians(&text, screen.Screen{Width: width, Color: width%2 == 0}); err != nil {
				t.Errorf("medians of %s in %d columns: %v", name, width, err)
			}
		}
	}
}
