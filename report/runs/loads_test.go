package runs

import (
	"strings"
	"testing"

	"github.com/servebench/servebench/report/layout"
	"github.com/servebench/servebench/report/reporttest"
	"github.com/servebench/servebench/report/screen"
)

// repeated is the table of reporttest.Repeated.
func repeated() (t Table) {
	for _, r := range reporttest.Repeated() {
		t.Rows = append(t.Rows, Row{Labels: r.Labels, Summary: r.Summary})
	}
	return t
}

func TestMediansHaveARowForEachLoad(t *testing.T) {
	var text strings.Builder
	if err := repeated().Medians(&text, screen.Screen{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	if got := strings.Count(text.String(), "| arm-"); got != 8 {
		t.Errorf("%d rows\n%s", got, text.String())
	}
	for _, want := range []string{
		"Median over the repeats (least … most)",
		"| arm   | target  | repeats |       output tok/s |        mean TTFT ms |         P99 TTFT ms |          mean TPOT ms | verdict            |",
		"| arm-1 | b       |       2 | 2.00 (2.00 … 2.00) | 31.50 (30.00 … 33.00) | ",
		"1 VALID, 1 SUSPECT",
		"`*` " + layout.FewMeans(),
	} {
		if !strings.Contains(squeezed(text.String()), squeezed(want)) {
			t.Errorf("no %q in\n%s", want, strings.Join(lines, "\n"))
		}
	}
	text.Reset()
	if err := repeated().Medians(&text, screen.Screen{Width: 80}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		if n := len([]rune(strings.TrimSpace(line))); n > 80 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
}

// squeezed has one blank where there are several.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }

// Without repeats a row has no median.
func TestPlainRunsHaveNoMedians(t *testing.T) {
	var text strings.Builder
	if err := (Table{Rows: repeated().Rows[:1]}).Medians(&text, screen.Screen{}); err != nil || text.Len() > 0 {
		t.Errorf("%q, %v", text.String(), err)
	}
}

// Rows that are not used stay in the table and have no part in the medians.
func TestMediansLeaveOutUnusedRows(t *testing.T) {
	table := repeated()
	for i := range table.Rows {
		table.Rows[i].Unused = i >= len(table.Rows)/2
	}
	var text strings.Builder
	if err := table.Medians(&text, screen.Screen{}); err != nil {
		t.Fatal(err)
	}
	var used strings.Builder
	if err := (Table{Rows: table.Rows[:len(table.Rows)/2]}).Medians(&used, screen.Screen{}); err != nil || text.String() != used.String() {
		t.Errorf("%v\n%s\nwant\n%s", err, text.String(), used.String())
	}
	for i := range table.Rows {
		table.Rows[i].Unused = true
	}
	text.Reset()
	if err := table.Medians(&text, screen.Screen{}); err != nil || !strings.Contains(text.String(), "| arm-") {
		t.Errorf("without others, they are all there is: %v\n%s", err, text.String())
	}
}
