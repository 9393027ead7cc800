package compare

import (
	"testing"

	"github.com/servebench/servebench/metrics"
	jobs "github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/compare/numbers"
)

// Runs of sessions are compared and gated by their job times and their rate; others have no such
// numbers.
func TestSessionsAreCompared(t *testing.T) {
	run := func(jobSeconds float64) *brief.Run {
		s := metrics.Unknown()
		s.Completed, s.Failed = 60, 0
		of := &jobs.Sessions{Throughput: 2, Goodput: 1}
		jobs.Give(s, of)
		for range 30 {
			of.JobTime.Add(jobSeconds)
		}
		return brief.Runs([]*metrics.Summary{s})[0]
	}
	m, ok := numbers.Find("p95_job")
	if !ok {
		t.Fatal("no p95_job")
	}
	gate := gating.Gate{Limits: []gating.Margin{{Number: m, Relative: 0.05}}}
	old := []*brief.Run{run(1), run(1.001), run(1.002), run(1.003)}
	new := []*brief.Run{run(2), run(2.001), run(2.002), run(2.003)}
	c := Compare(old, new, gate)
	names := map[string]float64{}
	for _, r := range c.Points[0].Rows {
		names[r.Number.Name] = r.New.Center
		if r.Number.Name == "p95_job" && !(r.Judgement.Gated && r.worse() && r.Differs && len(r.Remarks) == 1) {
			t.Errorf("%+v", r)
		}
	}
	if names["mean_job"] < 2000 || names["p99_job"] < 2000 || names["session_throughput"] != 2 || names["session_goodput"] != 1 {
		t.Errorf("%v", names)
	}
	if single := brief.Runs([]*metrics.Summary{metrics.Unknown()})[0]; len(single.Numbers) != 0 {
		t.Errorf("%v of a run without sessions", single.Numbers)
	}
}
