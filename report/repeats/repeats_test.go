package repeats

import (
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/report/reporttest"
	"github.com/servebench/servebench/report/screen"
)

// The variation of 10, 20, 60 is that of numpy: std([10, 20, 60], ddof=1) / 30.
func TestSpreadOfRepeats(t *testing.T) {
	var sums []*metrics.Summary
	for _, ms := range []float64{20, 10, 60} {
		s := &metrics.Summary{Header: new(metrics.Header), Completed: 1, When: metrics.When{Seconds: 2}, Rates: metrics.Rates{Requests: ms}}
		s.TTFT.Add(ms / 1000)
		sums = append(sums, s)
	}
	sums = append(sums, &metrics.Summary{Header: new(metrics.Header), Failed: 1, When: metrics.When{Seconds: 90}})
	var text strings.Builder
	if err := spread(&text, "Over 3 repeats", sums); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Over 3 repeats                       mean   median    least     most     CV %\n",
		"Duration (s)                         2.00     2.00     2.00     2.00     0.00\n",
		"Request throughput (req/s)          30.00    20.00    10.00    60.00    88.19\n",
		"Mean TTFT (ms)                      30.00    20.00    10.00    60.00    88.19\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	text.Reset()
	if err := spread(&text, "", sums[:1]); err != nil || text.Len() > 0 {
		t.Errorf("%v, %q of one run", err, text.String())
	}
}

func TestRepeatsSayWhatOneStartCannotShow(t *testing.T) {
	run := func(target, start string) *metrics.Summary {
		h := &metrics.Header{Target: target}
		if start != "" {
			h.Server = &metrics.ServerStart{ID: start}
		}
		return &metrics.Summary{Header: h}
	}
	const one, unknown = "runs on one server start: they show how runs on it differ, and not how starts do. servebench sweep starts", "runs on a server that does not say when it started: if it is one start"
	for _, c := range []struct {
		sums []*metrics.Summary
		want string
	}{
		{[]*metrics.Summary{run("", "a"), run("", "a"), run("", "a")}, "3 " + one},
		{[]*metrics.Summary{run("a", "a"), run("b", "b"), run("a", "a"), run("b", "b")}, "2 " + one},
		{[]*metrics.Summary{run("", "a"), run("", "b")}, ""},
		{[]*metrics.Summary{run("", ""), run("", "")}, "2 " + unknown},
		{[]*metrics.Summary{run("", "a")}, ""},
		{[]*metrics.Summary{run("a", "a"), run("b", "b")}, ""},
	} {
		if got := SharedStart(c.sums); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%d runs: %q, want %q", len(c.sums), got, c.want)
		}
	}
}

// A terminal of any width loses no repeat.
func TestAnyWidthShowsEverything(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	for name, s := range reporttest.Runs() {
		for _, width := range reporttest.Widths() {
			var text strings.Builder
			all := Report{Runs: []*metrics.Summary{s, s}, Several: true}
			if err := all.Write(&text, screen.Screen{Width: width, Color: width%2 == 0}); err != nil {
				t.Errorf("%s in %d columns: %v", name, width, err)
			}
		}
	}
}
