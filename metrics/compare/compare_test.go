package compare

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
)

// alike are runs that scatter by a few percent, with what differs for all of them.
func alike(n int, change ...func(i int, r *Run)) []*Run {
	var runs []*Run
	for i := range n {
		around := 1 + 0.01*float64(i%3)
		r := &Run{
			Asked:   map[string]string{"model": "m", client: "1", "request-rate": "inf", seed: "0"},
			Numbers: map[string]float64{"output_throughput": 2000 * around, "median_ttft": 40 * around, "median_tpot": 10 * around},
			Values:  map[string]int{"ttft": 5000}, Completed: 100, Input: 1000, Output: 1000,
		}
		for _, change := range change {
			change(i, r)
		}
		runs = append(runs, r)
	}
	return runs
}

func times(name string, factor float64) func(int, *Run) {
	return func(_ int, r *Run) { r.Numbers[name] *= factor }
}

func asks(name, value string) func(int, *Run) {
	return func(_ int, r *Run) { r.Asked[name] = value }
}

func TestVerdicts(t *testing.T) {
	ceiling := DefaultGate()
	p99, _ := Find("p99_ttft")
	ceiling.Bounds = []Bound{{p99, math.Inf(-1), 200}}
	tolerant := DefaultGate()
	tolerant.Allowed = 0.02
	despite := DefaultGate()
	despite.Despite = []string{"model", "suspect"}
	single := Gate{Limits: DefaultGate().Limits[:1], Alpha: 0.2}
	fails := func(n int) func(int, *Run) { return func(_ int, r *Run) { r.Failed = n } }
	doubtful := func(i int, r *Run) {
		if i == 1 {
			r.Doubts = []string{"it was cut short"}
		}
	}
	tail := func(v float64) func(int, *Run) { return func(_ int, r *Run) { r.Numbers["p99_ttft"] = v } }
	for _, test := range []struct {
		name     string
		gate     Gate
		old, new []*Run
		want     Verdict
		reason   string // in the first one
	}{
		{"alike", DefaultGate(), alike(6), alike(6), Pass, ""},
		{"slower", DefaultGate(), alike(6), alike(6, times("median_ttft", 1.1)), Regressed, "median_ttft went from 40.40 to 44.44 ms, +10.0 % (p=0.0"},
		{"less throughput", DefaultGate(), alike(6), alike(6, times("output_throughput", 0.9)), Regressed, "output_throughput went"},
		{"faster", DefaultGate(), alike(6), alike(6, times("median_ttft", 0.5)), Pass, ""},
		{"within the margin", DefaultGate(), alike(6), alike(6, times("median_ttft", 1.04)), Pass, ""},
		{"one a side", DefaultGate(), alike(1), alike(1, times("median_ttft", 9)), NoVerdict, "need at least 4 runs a side to decide on 3 numbers, there are 1 and 1"},
		{"three a side", DefaultGate(), alike(3), alike(3), NoVerdict, "need at least 4 runs"},
		{"enough together", DefaultGate(), alike(3), alike(9, times("median_ttft", 2)), Regressed, "median_ttft"},
		{"no interval", single, alike(2), alike(2), NoVerdict, "output_throughput: need at least 4 runs a side to rule out a change of 10 %"},
		{"none", DefaultGate(), nil, nil, NoVerdict, "there are no runs"},
		{"none new", DefaultGate(), alike(6), nil, NoVerdict, "there are no runs on one side"},
		{"all failed", DefaultGate(), alike(6), alike(6, func(_ int, r *Run) { r.Completed, r.Failed = 0, 100 }), Regressed, "new run 1: no request completed"},
		{"no tokens", DefaultGate(), alike(6), alike(6, func(_ int, r *Run) { r.Output = 0 }), Regressed, "new run 1: no request got a token"},
		{"some failed", DefaultGate(), alike(6), alike(6, fails(2)), Regressed, "new run 1: 2 of 102 requests failed"},
		{"some failed in one of one", DefaultGate(), alike(1), alike(1, fails(2)), Regressed, "new run 1: 2 of 102 requests failed"},
		{"some may fail", tolerant, alike(6, fails(1)), alike(6, fails(2)), Pass, ""},
		{"old failed", DefaultGate(), alike(6, fails(2)), alike(6), NoVerdict, "old run 1: 2 of 102 requests failed: it is nothing to compare with"},
		{"both failed", DefaultGate(), alike(6, fails(2)), alike(6, fails(2)), NoVerdict, "old run 1: 2 of 102"},
		{"more failed", DefaultGate(), alike(6, fails(2)), alike(6, fails(3)), Regressed, "new run 1: 3 of 103"},
		{"failures unknown", DefaultGate(), alike(6), alike(6, fails(-1)), NoVerdict, "new run 1, 2, 3, 4, 5, 6: it does not say how many requests failed"},
		{"text block", DefaultGate(), alike(6, func(_ int, r *Run) { r.Asked = nil }), alike(6), NoVerdict, "old run 1, 2, 3, 4, 5, 6: a text block or the like"},
		{"another model", DefaultGate(), alike(6), alike(6, asks("model", "n")), NoVerdict, "not comparable: model is m on the old side and n on the new"},
		{"another model, meant", despite, alike(6), alike(6, asks("model", "n"), doubtful), Pass, ""},
		{"limited", DefaultGate(), alike(6, asks("max-concurrency", "unlimited")), alike(6, asks("max-concurrency", "8")), NoVerdict, "not comparable: max-concurrency is unlimited on the old side and 8 on the new"},
		{"cores known once", DefaultGate(), alike(6), alike(6, asks(cores, "2")), Pass, ""},
		{"given once", DefaultGate(), alike(6), alike(6, asks("temperature", "0")), NoVerdict, "not comparable: temperature is not given on the old side and 0 on the new"},
		{"seeds", DefaultGate(), alike(6), alike(6, func(i int, r *Run) { r.Asked[seed] = string(rune('0' + i)) }), NoVerdict, "not comparable: seed is 0 on the old side and another for each run on the new"},
		{"cut short", DefaultGate(), alike(6), alike(6, doubtful, times("median_ttft", 2)), NoVerdict, "new run 2: it was cut short"},
		{"gated and unknown", DefaultGate(), alike(6), alike(6, func(i int, r *Run) { delete(r.Numbers, "median_tpot") }), NoVerdict, "median_tpot is not known of every run"},
		{"over the ceiling", ceiling, alike(1, tail(100)), alike(1, tail(201)), Regressed, "p99_ttft is 201.00 ms, and 200 is its bound"},
		{"over the ceiling, in doubt", ceiling, alike(6, tail(100)), alike(6, tail(201), doubtful), NoVerdict, "new run 2: it was cut short"},
		{"ceiling of what is unknown", ceiling, alike(6), alike(6), NoVerdict, "p99_ttft is not known of every new run"},
		{"under the ceiling", ceiling, alike(6, tail(100)), alike(6, tail(199)), Pass, ""},
		{"all over the place", DefaultGate(), alike(6), alike(6, func(i int, r *Run) { r.Numbers["median_ttft"] *= 0.7 + 0.15*float64(i) }), NoVerdict, "median_ttft: too noisy to rule out a change of 10 %: it may be +"},
	} {
		got := Compare(test.old, test.new, test.gate)
		reason := ""
		if len(got.Reasons) > 0 {
			reason = got.Reasons[0]
		}
		if got.Verdict != test.want || !strings.HasPrefix(reason, test.reason) || (test.want == Pass) != (reason == "") {
			t.Errorf("%s: %s %q, want %s %q", test.name, got.Verdict, got.Reasons, test.want, test.reason)
		}
	}
}

func TestImprovementsAreFound(t *testing.T) {
	c := Compare(alike(6), alike(6, times("median_ttft", 0.5), times("output_throughput", 2)), DefaultGate())
	for _, r := range c.Points[0].Rows {
		want := map[string]Finding{"median_ttft": Better, "output_throughput": Better}[r.Name]
		if r.Finding != want {
			t.Errorf("%s: %q", r.Name, r.Finding)
		}
	}
}

// What a margin hides for one metric it does not for another, and both parts of a
// margin count.
func TestMargins(t *testing.T) {
	gate := DefaultGate()
	gate.Limits[1].Relative, gate.Limits[1].Absolute = 0.02, 5
	if c := Compare(alike(6), alike(6, times("median_ttft", 1.12)), gate); c.Verdict != Pass {
		t.Errorf("4.8 ms are within 5 ms: %s %q", c.Verdict, c.Reasons)
	}
	if c := Compare(alike(6), alike(6, times("median_ttft", 1.13)), gate); c.Verdict != Regressed {
		t.Errorf("5.2 ms are not within 5 ms: %s", c.Verdict)
	}
	gate.Limits[1].Relative = 0.2
	if c := Compare(alike(6), alike(6, times("median_ttft", 1.13)), gate); c.Verdict != Pass {
		t.Errorf("13 %% are within 20 %%: %s %q", c.Verdict, c.Reasons)
	}
}

// With five margins' worth of a slowdown in each of its runs a side is regressed
// however many others are gated; of chance alone the more of them there are the
// more it takes.
func TestManyGatedNumbersTakeMoreRuns(t *testing.T) {
	gate := DefaultGate()
	old, new := alike(4), alike(4, times("median_ttft", 1.3))
	if c := Compare(old, new, gate); c.Verdict != Regressed {
		t.Errorf("three gated: %s %q", c.Verdict, c.Reasons)
	}
	gate.Limits = append(gate.Limits, Limit{Metric: Metrics[0]})
	for _, r := range slices.Concat(old, new) {
		r.Numbers[Metrics[0].Name] = 1
	}
	if c := Compare(old, new, gate); c.Verdict != NoVerdict || c.Needed != 5 {
		t.Errorf("four gated: %s %q", c.Verdict, c.Reasons)
	}
}

func TestLoadsOfAGridAreComparedEachByItself(t *testing.T) {
	grid := func(name string, factor float64) []*Run {
		return slices.Concat(alike(6, asks("request-rate", "4")), alike(6, asks("request-rate", "16"), times(name, factor)))
	}
	c := Compare(grid("median_ttft", 1), grid("median_ttft", 1.2), DefaultGate())
	if len(c.Points) != 2 || c.Points[0].Name() != "request-rate 4" || c.Points[1].Name() != "request-rate 16" {
		t.Fatalf("%+v", c.Points)
	}
	if c.Verdict != Regressed || len(c.Reasons) != 1 || !strings.HasPrefix(c.Reasons[0], "request-rate 16: median_ttft went") {
		t.Errorf("%s %q", c.Verdict, c.Reasons)
	}
	// A load that one side alone has is a difference.
	c = Compare(grid("median_ttft", 1), alike(6, asks("request-rate", "4")), DefaultGate())
	if c.Verdict != NoVerdict || len(c.Points) != 1 || !strings.Contains(strings.Join(c.Reasons, "\n"), "request-rate is 4, 16 on the old side and 4 on the new") {
		t.Errorf("%s %q", c.Verdict, c.Reasons)
	}
}

func TestTargetsAreComparedEachByItself(t *testing.T) {
	a, b := alike(6, asks(target, "a"), times("median_ttft", 3)), alike(6, asks(target, "b"))
	if c := Compare(slices.Concat(a, b), slices.Concat(b, a), DefaultGate()); c.Verdict != Pass || len(c.Points) != 2 {
		t.Errorf("%s %q of %d points", c.Verdict, c.Reasons, len(c.Points))
	}
	if c := Compare(a, b, DefaultGate()); c.Verdict != Pass || len(c.Points) != 1 {
		t.Errorf("one target against another: %s %q", c.Verdict, c.Reasons)
	}
	if c := Compare(slices.Concat(a, b), b, DefaultGate()); c.Verdict != NoVerdict {
		t.Errorf("two targets against one: %s", c.Verdict)
	}
}

func TestNotesTellWhatStandsBeside(t *testing.T) {
	at := func(minute int) func(int, *Run) {
		return func(i int, r *Run) { r.Began = time.Unix(0, 0).Add(time.Duration(minute+i) * time.Minute) }
	}
	for _, test := range []struct {
		name     string
		old, new []*Run
		want     string
	}{
		{"one after the other", alike(6, at(0)), alike(6, at(10)), "the old runs were all before the new ones"},
		{"in turns", alike(6, at(0)), alike(6, at(1)), ""},
		{"longer answers", alike(6), alike(6, func(_ int, r *Run) { r.Output = 1100 }), "the answers had 10.0 tokens on the old side and 11.0 on the new (+10.0 %)"},
		{"other seeds", alike(6, func(i int, r *Run) { r.Asked[seed] = string(rune('0' + i)) }),
			alike(6, func(i int, r *Run) { r.Asked[seed] = string(rune('1' + i)) }), "the seeds are 0, 1, 2, 3, 4, 5 on the old side and 1, 2, 3, 4, 5, 6 on the new"},
	} {
		c := Compare(test.old, test.new, DefaultGate())
		got := strings.Join(c.Notes, "\n")
		if c.Verdict != Pass || !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%s: %s %q", test.name, c.Verdict, got)
		}
	}
}

func TestFewValuesBeyondAPercentileAreRemarkedOn(t *testing.T) {
	few := func(_ int, r *Run) { r.Numbers["p99_ttft"], r.Values["ttft"] = 50, 99 }
	c := Compare(alike(6, few), alike(6, few), DefaultGate())
	if r := c.Points[0].find("p99_ttft"); r == nil || !slices.Equal(r.Remarks, []string{"only 1.0 values of a run lie beyond it"}) {
		t.Errorf("%+v", r)
	}
}

// A run is what its summary says; what it does not say is not a number.
func TestRunsHoldWhatIsKnown(t *testing.T) {
	s := &metrics.Summary{Header: &metrics.Header{Run: "r", Version: "1"}, Completed: 3, TotalOutput: 3, OutputThroughput: 5, Goodput: math.NaN()}
	s.Header.Config = metrics.Config{Model: "m", RequestRate: math.Inf(1), Burstiness: 1, Seed: 7,
		Metadata: []metrics.KV{{Key: "host", Value: "a"}, {Key: "arm", Value: "b"}}}
	s.Header.Flags = []metrics.KV{{Key: "random-input-len", Value: "9"}, {Key: "port", Value: "1"}, {Key: "dataset-path", Value: "a/b.json"}, {Key: "request-rate", Value: "inf"}}
	s.TTFT.Add(0.5)
	s.Evidence = &metrics.Evidence{Cores: 4}
	p95, ok := Find("p95_ttft")
	if !ok {
		t.Fatal("no p95_ttft")
	}
	r := Runs([]*metrics.Summary{s}, p95)[0]
	want := map[string]string{"model": "m", "request-rate": "inf", "max-concurrency": "unlimited", "burstiness": "1", "client": "1",
		"seed": "7", "cores": "4", "host": "a", "random-input-len": "9", "dataset-path": "b.json"}
	if !maps.Equal(r.Asked, want) {
		t.Errorf("%v", r.Asked)
	}
	for _, name := range []string{"goodput", "mean_tpot", "p99_itl", "median_e2el"} {
		if v, known := r.Numbers[name]; known {
			t.Errorf("%s is %v", name, v)
		}
	}
	if r.Numbers["p95_ttft"] != 500 || r.Numbers["output_throughput"] != 5 || !maps.Equal(r.Values, map[string]int{"ttft": 1}) {
		t.Errorf("%+v", r)
	}
}

func TestOnlySuspicionsOfTheRunAreDoubts(t *testing.T) {
	s := &metrics.Summary{Interrupted: true, Incomplete: []string{"run r was cut"}, Trust: &metrics.Trust{Verdict: metrics.Suspect, Checks: []metrics.Check{
		{Name: "samples", Text: "too few"}, {Name: "lag", Text: "requests went out late"}, {Name: "age", OK: true},
	}}}
	if got := doubts(s); !slices.Equal(got, []string{"it was stopped early", "run r was cut", "SUSPECT: requests went out late"}) {
		t.Errorf("%q", got)
	}
	s.Interrupted, s.Incomplete, s.Trust.Checks[2].OK = false, nil, false
	if got := doubts(s); !slices.Equal(got, []string{"SUSPECT: requests went out late; and 1 more"}) {
		t.Errorf("%q", got)
	}
}
