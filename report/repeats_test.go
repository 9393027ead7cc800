package report

import (
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/targets"
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

// Slowdowns from percentiles of too few samples are marked, and lines below say how to read them.
func TestSlowdownsOfRepeatsAreExplained(t *testing.T) {
	var out strings.Builder
	if err := Paired(&out, targets.Pair([]targets.Group{*two(true), *two(true)})); err != nil {
		t.Fatal(err)
	}
	narrow(t, out.String())
	for _, want := range []string{
		"a               mean   1.97 ×  1.97 ×  1.94 ×*   2.00 ×  2.00 ×*  1.04 ×    1.04 ×\n",
		"\n× of a latency: shared / alone; of throughput: alone / shared; above 1 is worse\n* fewer than 10 values beyond this percentile",
		"\nNote: the request rate limits the throughput of a, which therefore says little\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s\nlacks %q", out.String(), want)
		}
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
