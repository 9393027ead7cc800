package runs

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/verdict"
	"github.com/servebench/servebench/report/reporttest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// gridTable is a sweep over two arms and two rates, twice each. The last run is SUSPECT.
func gridTable() (t Table) {
	for i := range 8 {
		s := reporttest.Measured(metrics.Config{RequestRate: 100, Percentiles: []float64{50, 99}}, 40+i, func(int, *record.Record) {})
		s.Header.Run, s.Trust = fmt.Sprint("r", i), &verdict.Trust{Verdict: verdict.Valid}
		if i >= 6 { // of two reasons the weightier one is enough
			s.Trust = &verdict.Trust{Verdict: verdict.Suspect, Checks: []verdict.Check{
				{Name: "lag", Text: "lag p99 9.00 ms (limit 5.00 ms)", Remedy: "less load"}, {Name: "connecting", Text: "12 of 40 requests connected inside TTFT", Remedy: "warm"},
			}}
		}
		t.Rows = append(t.Rows, Row{Summary: s, Labels: []metrics.KV{
			{Key: "arm", Value: []string{"with", "without"}[i/4]}, {Key: "request-rate", Value: []string{"10", "inf"}[i/2%2]}, {Key: "num-prompts", Value: "40"}, {Key: "repeat", Value: fmt.Sprint(i%2 + 1)},
		}})
	}
	return t
}

// A narrow terminal gets the weightiest numbers, and a wide one all.
func TestTablesFitTheTerminal(t *testing.T) {
	table := gridTable()
	for _, width := range []int{80, 120, 240} {
		var b strings.Builder
		if err := table.Text(&b, width, "out/table.csv"); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d characters in %d columns: %s", n, width, line)
			}
		}
		reporttest.Golden(t, *update, fmt.Sprintf("table-%d.txt", width), []byte(b.String()))
	}
}

// A run without numbers has its row and says why; a single row has all its labels.
func TestNarrowTablesTellOfFailedRuns(t *testing.T) {
	var b strings.Builder
	if err := sampleTable(t).Text(&b, 80, "x"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n- arm a|b, rate inf: SUSPECT: lag p99 9 ms\n", "\n- arm c, repeat 2: FAILED: odd; no port, none\n", " FAILED\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
	b.Reset()
	if err := (Table{Rows: gridTable().Rows[:1]}).Text(&b, 120, "x"); err != nil || !strings.Contains(b.String(), "arm   request-rate  num-prompts  repeat") || strings.Contains(b.String(), "In all rows") {
		t.Errorf("%v\n%s", err, &b)
	}
}
