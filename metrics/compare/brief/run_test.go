package brief

import (
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/processes"
	"github.com/servebench/servebench/metrics/compare/numbers"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/verdict"
)

// A run is what its summary says; what it does not say is not a number.
func TestRunsHoldWhatIsKnown(t *testing.T) {
	s := &metrics.Summary{Header: &metrics.Header{Run: "r", Version: "1"}, Completed: 3, Totals: metrics.Totals{Output: 3}, Rates: metrics.Rates{Output: 5, Goodput: math.NaN()}}
	s.Header.Config = metrics.Config{Model: "m", RequestRate: math.Inf(1), Burstiness: 1, Seed: 7,
		Metadata: []metrics.KV{{Key: "host", Value: "a"}, {Key: "arm", Value: "b"}}}
	s.Header.Flags = []metrics.KV{{Key: "random-input-len", Value: "9"}, {Key: "port", Value: "1"}, {Key: "dataset-path", Value: "a/b.json"}, {Key: "request-rate", Value: "inf"}}
	s.Header.Shards = 4
	for _, own := range []string{"shard", "run-id", "start-at", "clock-offset", "server-metrics", "server-metrics-interval", "gpu-metrics", "kvcached-metrics", "price", "gpus"} {
		s.Header.Flags = append(s.Header.Flags, metrics.KV{Key: own, Value: "another in each run"})
	}
	s.TTFT.Add(0.5)
	s.Evidence = &evidence.Evidence{CPU: evidence.CPU{Cores: 4}}
	p95, ok := numbers.Find("p95_ttft")
	if !ok {
		t.Fatal("no p95_ttft")
	}
	s.TPOT.Quoted = metrics.NewQuote()
	s.TPOT.Quoted.Values = 2
	r := Runs([]*metrics.Summary{s}, p95)[0]
	want := map[string]string{"model": "m", "request-rate": "inf", "max-concurrency": "unlimited", "burstiness": "1", "client": "1",
		"seed": "7", "cores": "4", "host": "a", "arm": "b", "shards": "4", "random-input-len": "9", "dataset-path": "b.json"}
	if !maps.Equal(r.Asked, want) {
		t.Errorf("%v", r.Asked)
	}
	for _, name := range []string{"goodput", "mean_tpot", "p99_itl", "median_e2el"} {
		if v, known := r.Numbers[name]; known {
			t.Errorf("%s is %v", name, v)
		}
	}
	if r.Numbers["p95_ttft"] != 500 || r.Numbers["output_throughput"] != 5 || !maps.Equal(r.Values, map[string]int{"ttft": 1, "tpot": 2}) {
		t.Errorf("%+v", r)
	}
}

// A run on which the server restarted is on no start.
func TestRunsKnowTheirStart(t *testing.T) {
	header := &metrics.Header{Server: &metrics.ServerStart{ID: "a"}}
	sums := []*metrics.Summary{
		{Header: header, Evidence: &evidence.Evidence{Server: evidence.Server{Mixed: "another load"}}}, {Header: new(metrics.Header)},
		{Header: header, Evidence: &evidence.Evidence{Server: evidence.Server{Restarted: "it did"}}}, {Header: header},
	}
	sums[3].Give(processes.Kind, &processes.Processes{Mixed: "its samples differ"})
	for i, r := range Runs(sums) {
		if want := []string{"a", "", "", ""}[i]; r.Start != want {
			t.Errorf("run %d is on the start %q, want %q", i, r.Start, want)
		}
	}
}

func TestOnlySuspicionsOfTheRunAreDoubts(t *testing.T) {
	s := &metrics.Summary{Ending: metrics.Ending{Interrupted: true, Incomplete: []string{"run r was cut"}}, Trust: &verdict.Trust{Verdict: verdict.Suspect, Checks: []verdict.Check{
		{Name: "samples", Text: "too few"}, {Name: "incomplete", Text: "run r was cut"}, {Name: "lag", Text: "requests went out late"}, {Name: "age", OK: true},
	}}}
	if got := doubts(s); !slices.Equal(got, []string{"SUSPECT: requests went out late"}) {
		t.Errorf("%q", got)
	}
	if got := gaps(s); !slices.Equal(got, []string{"it was stopped early", "run r was cut"}) {
		t.Errorf("%q", got)
	}
	s.Ending.StoppedBy = "a rule"
	if got := gaps(s); got[0] != "it was stopped early by a rule" {
		t.Errorf("%q", got)
	}
	s.Trust.Checks[3].OK = false
	if got := doubts(s); !slices.Equal(got, []string{"SUSPECT: requests went out late; and 1 more"}) {
		t.Errorf("%q", got)
	}
}

func TestRequestsThatWaitedForASlotAreNoDoubtOfTheRun(t *testing.T) {
	const text = "sent 17.43 of the 18.62 req/s scheduled: " + verdict.HeldBack + ", for 30.0 ms on average"
	s := &metrics.Summary{Header: &metrics.Header{}, Trust: &verdict.Trust{Verdict: verdict.Suspect, Checks: []verdict.Check{
		{Name: "rate", Text: text, Remedy: "raise the limit"},
	}}}
	if r := Of(s, nil); r.Held != text || r.Doubts != nil || r.Source.Remedy != "raise the limit" {
		t.Errorf("%q, %q, %q", r.Held, r.Doubts, r.Source.Remedy)
	}
	s.Trust.Checks[0].Text = "sent 17.43 of the 18.62 req/s scheduled: we were late ourselves, by 30.0 ms on average"
	if r := Of(s, nil); r.Held != "" || !slices.Equal(r.Doubts, []string{"SUSPECT: " + s.Trust.Checks[0].Text}) {
		t.Errorf("%q, %q", r.Held, r.Doubts)
	}
}

func TestARunHasTheMeansOfItsSpans(t *testing.T) {
	c := aspect.Collector(&metrics.Header{Run: "r"})
	for i := range 2 {
		r := &record.Record{Times: record.Times{Due: 0, Slot: time.Millisecond, Sent: 2 * time.Millisecond, Wrote: 3 * time.Millisecond}, Tokens: record.Tokens{Out: 1}}
		r.Answer.Chunks.Append(time.Duration(10+10*i) * time.Millisecond)
		r.Times.Last, r.Times.End = r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
		c.Add(r)
	}
	got := Runs([]*metrics.Summary{c.Summary(1)})[0].Spans
	want := map[string]float64{
		"slot": 1, "lag": 1, "connect": 0, "write": 1, "server_queue": 0, "prefill": 0, "network": 0, "first_output": 12, "generation": 0, "read": 0,
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if unknown := Runs([]*metrics.Summary{metrics.Unknown()})[0].Spans; unknown != nil {
		t.Errorf("a run of a text block has the spans %v", unknown)
	}
}

// Each run with another target has its slowdown, from the run alone in the same repeat.
func TestSlowdownIsANumberOfARun(t *testing.T) {
	var sums []*metrics.Summary
	for i, h := range []metrics.Header{{Target: "a", Solo: true}, {Target: "b", Solo: true}, {Target: "a"}, {Target: "b"}} {
		h.Group = "g"
		c := aspect.Collector(&h)
		r := &record.Record{Tokens: record.Tokens{In: 10, Out: 2}}
		for chunk := range 2 {
			r.Answer.Chunks.Append(time.Duration((chunk+1)*(i+1)) * 100 * time.Millisecond)
		}
		r.Times.Last, r.Times.End = r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
		c.Add(r)
		sums = append(sums, c.Summary(1))
	}
	for i, want := range []float64{0, 0, 3, 2} {
		v, known := Runs(sums)[i].Numbers["mean_ttft_slowdown"]
		if known != (want > 0) || math.Abs(v-want) > 1e-6 {
			t.Errorf("run %d: %v, want %v", i, v, want)
		}
	}
	if _, ok := numbers.Find("mean_tpot_slowdown"); !ok {
		t.Error("no gate can name mean_tpot_slowdown")
	}
}

func TestArmsAreKnownByLabelTargetAndMetadata(t *testing.T) {
	for _, test := range []struct {
		header metrics.Header
		want   []string
	}{
		{metrics.Header{}, nil},
		{metrics.Header{Target: "a"}, []string{"a"}},
		{metrics.Header{Target: "a", Solo: true}, []string{"a alone"}},
		{metrics.Header{Config: metrics.Config{Label: "l", Metadata: []metrics.KV{{Key: "repeat", Value: "1"}, {Key: "arm", Value: "with"}}}}, []string{"l", "with"}},
	} {
		if got := armNames(&metrics.Summary{Header: &test.header}); !slices.Equal(got, test.want) {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
