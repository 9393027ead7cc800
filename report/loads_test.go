package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/verdict"
	"github.com/servebench/servebench/report/layout"
	"github.com/servebench/servebench/report/screen"
)

// repeated are the rows of a sweep with two repeats on two arms, whose targets a and b were loaded
// alone and together. Together TTFT is twice as long on the first arm, and three times on the other.
func repeated() (t Table) {
	for arm, slower := range []time.Duration{2, 3} {
		for repeat := range 2 {
			for _, target := range []string{"a", "b"} {
				for _, solo := range []bool{true, false} {
					ttft := time.Duration(10+repeat) * time.Millisecond
					if !solo {
						ttft *= slower
					}
					h := &metrics.Header{Run: fmt.Sprint(arm, repeat, target, solo), Target: target, Group: fmt.Sprint(arm, repeat), Solo: solo}
					c := aspect.Collector(h)
					c.AddOutcome(metrics.Outcome{Success: true, Out: 2, TTFT: ttft.Seconds(), Latency: 0.1 + ttft.Seconds()})
					s := c.Summary(1)
					s.Trust = &verdict.Trust{Verdict: verdict.Valid}
					if arm == 1 && repeat == 1 && target == "b" {
						s.Trust.Verdict = verdict.Suspect
					}
					t.Rows = append(t.Rows, Row{Summary: s, Labels: []metrics.KV{
						{Key: "arm", Value: fmt.Sprint("arm-", arm)}, {Key: "repeat", Value: fmt.Sprint(repeat + 1)}, {Key: "target", Value: h.TargetName()},
					}})
				}
			}
		}
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

func TestSlowdownsHaveARowForEachTarget(t *testing.T) {
	var text strings.Builder
	if err := repeated().Slowdowns(&text, screen.Screen{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| arm | target | pairs | mean TTFT ms | median TTFT ms | P99 TTFT ms | mean TPOT ms | P99 TPOT ms | output tok/s | requests req/s |",
		"| arm-0 | a | 2 | 2.00 × | 2.00 × | 2.00 ×* |", "| arm-1 | b | 2 | 3.00 × |", "above 1 is worse", "* " + layout.FewMeans(),
	} {
		if !strings.Contains(squeezed(text.String()), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

// Without repeats a row has no median, and without targets there is no slowdown.
func TestPlainRunsHaveNeitherMediansNorSlowdowns(t *testing.T) {
	plain := Table{Rows: repeated().Rows[:1]}
	for _, write := range []func(*strings.Builder) error{
		func(b *strings.Builder) error { return plain.Medians(b, screen.Screen{}) },
		func(b *strings.Builder) error { return plain.Slowdowns(b, screen.Screen{}) },
	} {
		var text strings.Builder
		if err := write(&text); err != nil || text.Len() > 0 {
			t.Errorf("%q, %v", text.String(), err)
		}
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
