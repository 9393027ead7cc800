package compare

import (
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/verdict"
)

// over makes the first n runs OVERLOADED.
func over(n int) func(int, *brief.Run) {
	return func(i int, r *brief.Run) {
		r.Asked["request-rate"] = "10"
		if i < n {
			r.Overloaded = "the backlog grew by 4.0 requests a second; these latencies depend on how long the run was"
		}
	}
}

func TestOverloadedSides(t *testing.T) {
	throughput := gating.Gate{Limits: gating.Default().Limits[:1]}
	slower, less := times("median_ttft", 9), times("output_throughput", 0.8)
	lagged := func(i int, r *brief.Run) { r.Doubts = []string{"SUSPECT: it lagged"} }
	const gone = "the new runs cannot hold 10 req/s any more: the backlog grew by 4.0 requests a second (6 of 6 of them)"
	for _, test := range []struct {
		name     string
		gate     gating.Gate
		old, new []*brief.Run
		want     Verdict
		reasons  []string // their beginnings
		note     string
	}{
		{"neither", gating.Default(), alike(6, over(0)), alike(6, over(0)), Pass, nil, ""},
		{"the new side", gating.Default(), alike(6, over(0)), alike(6, over(6), slower), Regressed, []string{gone}, ""},
		{"the new side, of one run", gating.Default(), alike(1, over(0)), alike(1, over(1)), Regressed, []string{"the new runs cannot hold 10 req/s any more: the backlog grew by 4.0 requests a second (1 of 1 of them)"}, ""},
		{"the new side, with less throughput", gating.Default(), alike(6, over(0)), alike(6, over(6), less), Regressed, []string{"output_throughput −", gone}, ""},
		{"the new side, by throughput alone", throughput, alike(6, over(0)), alike(6, over(6)), Regressed, []string{gone}, ""},
		{"most of the new side", gating.Default(), alike(6, over(1)), alike(6, over(4)), Regressed, []string{"the new runs cannot hold 10 req/s any more: the backlog grew by 4.0 requests a second (4 of 6 of them)"}, ""},
		{"some of the new side", gating.Default(), alike(6, over(0)), alike(6, over(2)), NoVerdict, []string{"new runs 1, 2: OVERLOADED: the backlog grew by 4.0 requests a second: latencies are not judged"}, ""},
		{"the new side, by a client that lagged", gating.Default(), alike(6, over(0)), alike(6, over(6), lagged), NoVerdict, []string{"all 6 new runs: SUSPECT: it lagged", "all 6 new runs: OVERLOADED"}, ""},
		{"the new side, of another load", gating.Default(), alike(6, over(0)), alike(6, over(6), asks("request-rate", "20")), NoVerdict, []string{"not comparable: request-rate", "all 6 new runs: OVERLOADED"}, ""},
		{"the old side", gating.Default(), alike(6, over(6), slower), alike(6, over(0)), Pass, nil, "the old runs could not hold 10 req/s: the backlog grew by 4.0 requests a second (6 of 6 of them); latencies are not judged"},
		{"the old side, with less throughput now", gating.Default(), alike(6, over(6)), alike(6, over(0), less), Regressed, []string{"output_throughput −"}, "the old runs could not hold 10 req/s"},
		{"both", gating.Default(), alike(6, over(6)), alike(6, over(6), slower), NoVerdict, []string{"all 6 old runs: OVERLOADED", "all 6 new runs: OVERLOADED"}, ""},
		{"both, with less throughput", gating.Default(), alike(6, over(6)), alike(6, over(6), less), Regressed, []string{"output_throughput −"}, "all 6 old runs: OVERLOADED"},
		{"both, by throughput alone", throughput, alike(6, over(6)), alike(6, over(6), slower), Pass, nil, "runs of both sides, or some of one, are OVERLOADED: latencies are not judged"},
		{"both, and failures", gating.Default(), alike(6, over(6)), alike(6, over(6), func(_ int, r *brief.Run) { r.Failed = 3 }), Regressed, []string{"new run 1: 3 of 103 requests failed"}, ""},
	} {
		got := Compare(test.old, test.new, test.gate)
		begins := func(texts []string, with string) bool {
			return slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(text, with) })
		}
		right := got.Verdict == test.want && (test.want == Pass) == (got.Reasons == nil) && begins(append(got.Notes, ""), test.note)
		for _, reason := range test.reasons {
			right = right && begins(got.Reasons, reason)
		}
		if !right {
			t.Errorf("%s: %s %q, want %s %q\nnotes %q", test.name, got.Verdict, got.Reasons, test.want, test.reasons, got.Notes)
		}
		ttft := got.Points[0].find("median_ttft")
		if over := test.name != "neither"; ttft.Judgement.Unjudged != over || (ttft.Judgement.Finding == "") != over || over != strings.Contains(strings.Join(ttft.Remarks, ""), "not judged") {
			t.Errorf("%s: %+v", test.name, ttft)
		}
		if better := got.Points[0].Better; (better != nil) != strings.HasPrefix(test.name, "the old side") || better != nil && better[0] != "holds 10 req/s" {
			t.Errorf("%s: better: %q", test.name, better)
		}
	}
}

// The backlog alone is no doubt about the numbers of a run.
func TestRunOfAnOverloadedServerIsBelieved(t *testing.T) {
	s := &metrics.Summary{Header: &metrics.Header{}, Trust: &verdict.Trust{Verdict: verdict.Overloaded, Checks: []verdict.Check{{Name: "backlog", Text: "the backlog grew"}}}}
	if r := brief.Runs([]*metrics.Summary{s})[0]; r.Overloaded != "the backlog grew" || r.Doubts != nil {
		t.Errorf("%+v", r)
	}
}
