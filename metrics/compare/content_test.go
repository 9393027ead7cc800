package compare

import (
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/compare/numbers"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/trust"
)

// greeted is a run of requests that get an empty chunk after 3 ms and their first
// content after so long, at so many milliseconds a token.
func greeted(t *testing.T, id string, first time.Duration, empty bool) *metrics.Summary {
	t.Helper()
	h := &metrics.Header{Run: id, Version: "v", Config: metrics.Config{Backend: "openai", Endpoint: "/v1/completions", Model: "m", NumPrompts: 20}}
	c := aspect.Collector(h)
	for i := range 20 {
		at := time.Duration(i) * time.Second
		r := &record.Record{Index: i, Times: record.Times{Due: at, Slot: at, Sent: at}, Tokens: record.Tokens{In: 9, Out: 10}}
		if empty {
			r.Answer.Chunks.Append(r.Times.Sent + 3*time.Millisecond)
		}
		r.Times.FirstContent = r.Times.Sent + first
		for j := range 10 {
			r.Answer.Chunks.Append(r.Times.FirstContent + time.Duration(j)*10*time.Millisecond)
		}
		r.Times.Last, r.Times.End = r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
		c.Add(r)
	}
	s := c.Summary(20)
	s.Evidence = new(evidence.Evidence)
	trust.Judge(s)
	return s
}

// series are four runs a side, which differ a little.
func series(t *testing.T, name string, first time.Duration, empty bool) []*metrics.Summary {
	var sums []*metrics.Summary
	for i := range 4 {
		sums = append(sums, greeted(t, name+string(rune('0'+i)), first+time.Duration(i)*time.Millisecond, empty))
	}
	return sums
}

// By vLLM's definition both sides have a TTFT of 3 ms.
func TestAGateSeesTheFirstContentBehindAnEmptyChunk(t *testing.T) {
	old, new := series(t, "a", 100*time.Millisecond, true), series(t, "b", 150*time.Millisecond, true)
	c := Compare(turned(brief.Runs(old)), turned(brief.Runs(new)), gating.Default())
	row := c.Points[0].find("median_ttft")
	if c.Verdict != Regressed || row.Judgement.Finding != Worse || !row.FromContent || row.Old.Center < 100 || row.New.Center < 150 {
		t.Errorf("%s for %q: %+v", c.Verdict, c.Reasons, row)
	}
	if tpot := c.Points[0].find("median_tpot"); !tpot.FromContent || tpot.Old.Center < 9.999 || tpot.New.Center > 10.001 {
		t.Errorf("TPOT %+v", tpot)
	}
	if same := Compare(turned(brief.Runs(old)), turned(brief.Runs(series(t, "c", 100*time.Millisecond, true))), gating.Default()); same.Verdict != Pass {
		t.Errorf("alike: %s for %q", same.Verdict, same.Reasons)
	}
}

// A result file has vLLM's numbers alone, so that both sides are compared by those, and
// a run of which they are wrong is in doubt.
func TestBothSidesAreComparedByOneDefinition(t *testing.T) {
	for name, c := range map[string]struct {
		empty   bool
		verdict Verdict
	}{"sound": {false, Pass}, "with an empty chunk": {true, NoVerdict}} {
		old, new := turned(brief.Runs(series(t, "a", 100*time.Millisecond, c.empty))), turned(brief.Runs(series(t, "b", 100*time.Millisecond, c.empty)))
		for _, r := range old {
			r.Content = nil
		}
		got := Compare(old, new, gating.Default())
		if row := got.Points[0].find("median_ttft"); row.FromContent || got.Verdict != c.verdict {
			t.Errorf("%s: %s for %q, from the first content: %v", name, got.Verdict, got.Reasons, row.FromContent)
		}
		if c.empty && !strings.Contains(strings.Join(got.Reasons, "\n"), "SUSPECT: TTFT takes an empty chunk for a token") {
			t.Errorf("reasons %q", got.Reasons)
		}
	}
}

func TestABoundOnTTFTIsOfTheFirstContent(t *testing.T) {
	runs := series(t, "a", 100*time.Millisecond, true)
	ttft, _ := numbers.Find("median_ttft")
	c := Compare(brief.Runs(runs), brief.Runs(series(t, "b", 100*time.Millisecond, true)), gating.Gate{Bounds: []gating.Bound{{Number: ttft, Most: 50}}})
	if c.Verdict != Regressed {
		t.Errorf("%s for %q", c.Verdict, c.Reasons)
	}
}

// reasoning is a run of requests whose answers begin after so long; the reasoning before takes 40 ms
// from 10 ms on, if there is any.
func reasoning(t *testing.T, id string, output time.Duration, reasons bool) *metrics.Summary {
	t.Helper()
	c := aspect.Collector(&metrics.Header{Run: id, Version: "v", Config: metrics.Config{Backend: "openai-chat", Model: "m", NumPrompts: 20}})
	for i := range 20 {
		at := time.Duration(i) * time.Second
		r := &record.Record{Index: i, Times: record.Times{Due: at, Slot: at, Sent: at}, Tokens: record.Tokens{In: 9, Out: 10}, Answer: record.Answer{Reasoned: reasons}}
		r.Times.FirstContent = at + output
		if reasons {
			r.Times.FirstContent, r.Times.FirstOutput = at+10*time.Millisecond, at+output
		}
		r.Answer.Chunks.Append(r.Times.FirstContent)
		r.Answer.Chunks.Append(at + 300*time.Millisecond)
		r.Times.Last, r.Times.End = r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
		c.Add(r)
	}
	s := c.Summary(20)
	trust.Judge(s)
	return s
}

// A model that stops reasoning answers earlier, although its first token comes later.
func TestTTFOIsComparedOnceASideReasons(t *testing.T) {
	side := func(name string, output time.Duration, reasons bool) []*brief.Run {
		var sums []*metrics.Summary
		for i := range 4 {
			sums = append(sums, reasoning(t, name+string(rune('0'+i)), output, reasons))
		}
		return brief.Runs(sums)
	}
	thinks, answers := side("a", 200*time.Millisecond, true), side("b", 50*time.Millisecond, false)
	row := Compare(thinks, answers, gating.Default()).Points[0].find("median_ttfo")
	if row == nil || row.Old.Center != 200 || row.New.Center != 50 {
		t.Fatalf("TTFO %+v, want 200 and 50 ms", row)
	}
	if row := Compare(answers, side("c", 60*time.Millisecond, false), gating.Default()).Points[0].find("median_ttfo"); row != nil {
		t.Errorf("without reasoning: %+v", row)
	}
	if _, known := numbers.Find("p95_ttfo"); !known {
		t.Error("p95_ttfo is no metric")
	}
}
