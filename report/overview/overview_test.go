package overview

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/verdict"
	"github.com/servebench/servebench/report/plot"
)

// A load is 40 requests of five chunks, 100 ms apart.
type load struct {
	header    metrics.Header
	ttft, itl time.Duration
}

func (l load) run() plot.Run {
	l.header.Version = "1"
	c := aspect.Collector(&l.header)
	c.Keep.Trace = true
	for i := range 40 {
		at := time.Duration(i) * 100 * time.Millisecond
		r := &record.Record{Index: i, Attempts: 1, Times: record.Times{Due: at, Slot: at, Sent: at}, Tokens: record.Tokens{In: 10, Out: 5}, Result: record.Result{Status: 200}}
		for k := range 5 {
			r.Answer.Chunks.Append(at + l.ttft + time.Duration(k)*l.itl)
		}
		r.Times.Last, r.Times.End = r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
		c.Add(r)
	}
	return plot.Run{Summary: c.Summary(5)}
}

// arm are so many runs of an arm, which scatter by a percent.
func arm(name string, n int, ttft, itl time.Duration) (runs []plot.Run) {
	for i := range n {
		h := metrics.Header{Run: fmt.Sprint(name, i), Server: &metrics.ServerStart{ID: fmt.Sprint(name, i)}, Epoch: time.Date(2026, 1, 2, 3, i, 0, 0, time.UTC),
			Config: metrics.Config{Model: "m/x", NumPrompts: 40, RequestRate: 10, Metadata: []metrics.KV{{Key: "arm", Value: name}}}}
		runs = append(runs, load{h, ttft + time.Duration(i%3)*ttft/100, itl}.run())
	}
	return runs
}

func front(runs []plot.Run, title string) *Front {
	plot.Label(runs)
	return Of(runs, plot.Chapters(runs), title)
}

func TestTwoArmsAreATableWithTheirIntervals(t *testing.T) {
	f := front(slices.Concat(arm("without", 5, 40*time.Millisecond, 10*time.Millisecond), arm("with", 5, 50*time.Millisecond, 0)), "")
	if f.Title != "with against without" || f.Verdicts[0].Word != "REGRESSED" || f.Verdicts[0].Tone() != Bad {
		t.Errorf("%q: %v", f.Title, f.Verdicts)
	}
	rows := map[string]Row{}
	for _, r := range f.Table.Rows {
		rows[r.Cells[0]] = r
	}
	ttft, itl := rows["Median TTFT, ms"], rows["Median ITL, ms"]
	if got := fmt.Sprint(ttft.Cells); got != "[Median TTFT, ms 40.40 50.50 +25.0 % +23.5 … +26.5 % 0.012 REGRESSED]" || ttft.More || ttft.Tone != Bad {
		t.Errorf("%s, %+v", got, ttft)
	}
	if s := ttft.Span; !(0.5 < s.To && s.To < s.Low && s.Low < s.Share && s.Share < s.High && s.High < 1) {
		t.Errorf("drawn as %+v", s)
	}
	// Nothing falls by more than all of it.
	if got := fmt.Sprint(itl.Cells[1:5]); got != "[10.00 0.00 −100.0 % −100.0 … −100.0 %]" || !itl.More {
		t.Errorf("%s, %+v", got, itl)
	}
}

func TestTargetsAreATableOfSlowdowns(t *testing.T) {
	target := func(group, name string, solo bool, ttft time.Duration) plot.Run {
		return load{metrics.Header{Run: group + name + fmt.Sprint(solo), Target: name, Group: group, Series: "s", Solo: solo}, ttft, 10 * time.Millisecond}.run()
	}
	var runs []plot.Run
	for _, group := range []string{"g", "h"} {
		runs = append(runs, target(group, "a", true, 20*time.Millisecond), target(group, "b", true, 20*time.Millisecond),
			target(group, "a", false, 40*time.Millisecond), target(group, "b", false, 30*time.Millisecond))
	}
	f := front(runs, "")
	if f.Title != "a and b, alone and together" || len(f.Table.Rows) != 2 {
		t.Fatalf("%q: %+v", f.Title, f.Table)
	}
	if got := fmt.Sprint(f.Table.Rows[1].Cells[:4]); got != "[b 20.00 30.00 1.50 ×]" {
		t.Error(got)
	}
}

func TestOtherRunsAreATableOfTheirMedians(t *testing.T) {
	f := front(slices.Concat(arm("a", 3, 40*time.Millisecond, 10*time.Millisecond), arm("b", 3, 50*time.Millisecond, 10*time.Millisecond), arm("c", 3, 60*time.Millisecond, 10*time.Millisecond)), "")
	if f.Title != "9 runs by arm" || len(f.Table.Rows) != 3 {
		t.Fatalf("%q: %+v", f.Title, f.Table)
	}
	if got := fmt.Sprint(f.Table.Rows[1].Cells[:5]); got != "[b 8.00 40.00 50.50 50.50*]" {
		t.Error(got)
	}
	if f.About != "m/x · 2026-01-02 03:00 UTC · 9 runs" {
		t.Error(f.About)
	}
}

func TestTitleIsTheExperiments(t *testing.T) {
	one := arm("a", 1, 40*time.Millisecond, 0)
	one[0].File = "out/night.sweep/records.jsonl"
	if f := front(one, ""); f.Title != "night" {
		t.Errorf("of a sweep: %q", f.Title)
	}
	if f := front(one, "mine"); f.Title != "mine" {
		t.Errorf("asked for: %q", f.Title)
	}
	one[0].File = "run.jsonl"
	if f := front(one, ""); f.Title != "40 requests at 10 a second" {
		t.Errorf("of a run: %q", f.Title)
	}
	sessions.Give(one[0].Summary, &sessions.Sessions{Begun: 40})
	one[0].Summary.Header.Config.MaxSessions = 3
	if f := front(one, ""); f.Title != "40 sessions at 10 a second, at most 3 in progress" {
		t.Errorf("of sessions: %q", f.Title)
	}
	one[0].Summary.Header.Config.RequestRate = math.Inf(1)
	if f := front(one, ""); f.Title != "40 sessions, at most 3 in progress" {
		t.Errorf("of sessions without a rate: %q", f.Title)
	}
	one[0].Summary.Header.Config.MaxConcurrency = 4
	one[0].Summary.Header.Flags = []metrics.KV{{Key: "label", Value: "nightly"}}
	if f := front(one, ""); f.Title != "nightly" {
		t.Errorf("with a label: %q", f.Title)
	}
}

func TestDoubtIsCountedByItsReasons(t *testing.T) {
	runs := arm("a", 3, 40*time.Millisecond, 10*time.Millisecond)
	for i, r := range runs {
		r.Summary.Trust = &verdict.Trust{Verdict: verdict.Valid}
		if i > 0 {
			r.Summary.Trust = &verdict.Trust{Verdict: verdict.Suspect, Checks: []verdict.Check{{Name: "lag", Text: "lag p99 9 ms", Remedy: "use fewer"}}}
		}
	}
	f := front(runs, "")
	if got := fmt.Sprint(f.Verdicts); got != "[{SUSPECT [2 of 3 runs, for: lag (2)]}]" {
		t.Error(got)
	}
	if got := Judged(runs[1].Summary).Short(); got != "lag p99 9 ms → use fewer" {
		t.Error(got)
	}
	many := Verdict{Word: "SUSPECT", Reasons: []string{"a", "b", "c", "d", "e"}}
	if many.Short() != "a; b; c; and 2 more" || many.Tone() != Bad {
		t.Errorf("%s", many.Short())
	}
}

// block is a result block of a file, whose runs say nothing of how they were measured.
func block(file string, number, of int) plot.Run {
	s := load{metrics.Header{}, 40 * time.Millisecond, 10 * time.Millisecond}.run().Summary
	s.Header.Flags, s.Source.Origin = nil, metrics.Origin{File: file, Number: number, Of: of}
	return plot.Run{Summary: s, File: file}
}

func TestBlocksAreNamedByTheirPlaceAndNotPooled(t *testing.T) {
	runs := []plot.Run{block("seeds/mps.md", 1, 3), block("seeds/mps.md", 2, 3), block("seeds/mps.md", 3, 3)}
	runs = append(runs, arm("server", 2, 40*time.Millisecond, 0)...)
	runs[4].Summary.Header.Config.NumPrompts = 80
	f := front(runs, "")
	if f.Versus != nil || !strings.Contains(f.Apart, "not compared: a result block does not say how it was measured") {
		t.Errorf("%v, %q", f.Versus, f.Apart)
	}
	var names []string
	for _, r := range f.Table.Rows {
		names = append(names, r.Cells[0])
	}
	if got := strings.Join(names, "; "); got != "mps.md:1; mps.md:2; mps.md:3; num-prompts 40; num-prompts 80" {
		t.Error(got)
	}
}

func TestABlockNextToARunNamesBoth(t *testing.T) {
	run := arm("server", 1, 40*time.Millisecond, 0)[0]
	run.Summary.Source.Origin = metrics.Origin{File: "out/one.jsonl", Number: 1, Of: 1}
	run.Summary.Trust = &verdict.Trust{Verdict: verdict.Valid}
	f := front([]plot.Run{block("mps.md", 2, 3), run}, "")
	if f.Title != "one.jsonl against mps.md:2" || fmt.Sprint(f.Table.Head[1:3]) != "[mps.md:2 one.jsonl]" {
		t.Errorf("%q, %q", f.Title, f.Table.Head)
	}
	if got := fmt.Sprint(f.Verdicts[1]); got != "{VALID [1 of 2 runs; there is no verdict without a record stream]}" {
		t.Error(got)
	}
}

// A number cannot stand for runs of several loads, as servebench compare says, too.
func TestArmsOfUnlikeLoadsAreNotCompared(t *testing.T) {
	runs := slices.Concat(arm("old", 2, 40*time.Millisecond, 0), arm("new", 2, 40*time.Millisecond, 0))
	runs[0].Summary.Header.Config.NumPrompts = 80
	f := front(runs, "")
	if want := "old and new are not compared: the old runs are not alike, so no number can stand for all of them: num-prompts: 40, 80; choose, for example: --where num-prompts=40"; f.Versus != nil || f.Apart != want {
		t.Errorf("%v, %q", f.Versus, f.Apart)
	}
}

func TestTargetsOfSeveralArmsHaveARowEach(t *testing.T) {
	var runs []plot.Run
	for _, arm := range []string{"one", "two", "three"} {
		for _, target := range []string{"a", "b"} {
			for _, solo := range []bool{true, false} {
				runs = append(runs, load{metrics.Header{Run: fmt.Sprint(arm, target, solo), Target: target, Group: arm, Solo: solo,
					Config: metrics.Config{Metadata: []metrics.KV{{Key: "arm", Value: arm}}}}, 20 * time.Millisecond, 10 * time.Millisecond}.run())
			}
		}
	}
	for i := range runs { // two repeats
		again := runs[i]
		h := *again.Summary.Header
		s := *again.Summary
		h.Run, h.Group = h.Run+"again", h.Group+"again"
		s.Header = &h
		again.Summary = &s
		runs = append(runs, again)
	}
	f := front(runs, "")
	if len(f.Table.Rows) != 12 || f.Table.Rows[5].Cells[0] != "two, a" || f.Table.Head[3] != "median TTFT ms" {
		t.Errorf("%q: %+v", f.Table.Head, f.Table.Rows)
	}
	if f.Chart == nil || f.Chart.Name != "ttft-median-spread" {
		t.Errorf("the chart is %+v", f.Chart)
	}
}
