package targets

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
)

// shared is a run of a group with a Trace, its clock begun so long after epoch.
func shared(h metrics.Header, after time.Duration, seconds float64, records ...*record.Record) *metrics.Summary {
	h.Group, h.Epoch = "g", epoch.Add(after)
	c := aspect.Collector(&h)
	c.Keep.Trace = true
	for _, r := range records {
		c.Add(r)
	}
	return c.Summary(seconds)
}

// Clocks that disagree are known to by their offsets.
func TestTheTotalIsOnTheReferenceClock(t *testing.T) {
	a := shared(metrics.Header{Target: "a"}, 0, 2, sentAt(0, 500, 2000))
	b := shared(metrics.Header{Target: "b", ClockOffset: -time.Second}, 0, 2, sentAt(0, 500, 2000))
	total := (&Group{Shared: []*metrics.Summary{a, b}}).Total()
	if total.When.Seconds != 3 || recordsOf(total)[1].Times.Sent != time.Second {
		t.Errorf("%v s, the second sent at %v", total.When.Seconds, recordsOf(total)[1].Times.Sent)
	}
}

func TestTheTotalKnowsWhatItsTargetsDo(t *testing.T) {
	whole, cut := shared(metrics.Header{Target: "a"}, 0, 2, sentAt(0, 500, 2000)), shared(metrics.Header{Target: "b"}, 0, 2, sentAt(0, 500, 1000, 2000))
	if total := (&Group{Shared: []*metrics.Summary{whole, cut}}).Total(); total.Ending.Interrupted || total.ITL.Len() != 3 {
		t.Errorf("interrupted: %v, %d gaps", total.Ending.Interrupted, total.ITL.Len())
	}
	whole.Header.Config.IgnoreEOS, cut.Ending.Interrupted, cut.Ending.StoppedBy = true, true, "a rule"
	only := recordsOf(cut)[0]
	only.Answer.Chunks = only.Answer.Chunks.Ends()
	cut.Kept.Trace = shared(metrics.Header{}, 0, 2, &only).Kept.Trace
	if total := (&Group{Shared: []*metrics.Summary{whole, cut}}).Total(); !total.Ending.Interrupted || total.Ending.StoppedBy != "a rule" ||
		total.Header.Config.IgnoreEOS || !math.IsNaN(total.ITL.Mean()) {
		t.Errorf("interrupted: %v, ITL %v where single times are not known", total.Ending.Interrupted, total.ITL.Mean())
	}
}

func TestTheTotalIsOfAllTargetsOnOneClock(t *testing.T) {
	a := shared(metrics.Header{Target: "a", Config: metrics.Config{Model: "m", NumPrompts: 2, RequestRate: 2, MaxConcurrency: 3, Burstiness: 1}},
		0, 2, sentAt(0, 500, 1000), sentAt(1000, 1500, 2000))
	// Its clock is a second behind, and its load came half a second after that.
	b := shared(metrics.Header{Target: "b", Delay: 500 * msec, Config: metrics.Config{Model: "n", NumPrompts: 3, RequestRate: 5, MaxConcurrency: 4, Burstiness: 2}},
		time.Second, 1.8, sentAt(500, 900, 2300), refused(600, 700))
	g := Groups([]*metrics.Summary{a, b, {Header: &metrics.Header{}}})[0]
	total := g.Total()
	c := total.Header.Config
	if c.Model != "m, n" || c.NumPrompts != 5 || c.RequestRate != 7 || c.MaxConcurrency != 7 || !math.IsNaN(c.Burstiness) {
		t.Errorf("%+v", c)
	}
	if total.When.Seconds != 3.3 || total.When.Began != 0 || !total.When.Date.Equal(epoch.Add(3300*msec)) || total.Completed != 3 || total.Failed != 1 || total.Totals.Output != 6 {
		t.Errorf("%v s from %v to %v: %d completed, %d failed, %d tokens", total.When.Seconds, total.When.Began, total.When.Date, total.Completed, total.Failed, total.Totals.Output)
	}
	// 500 and 500 ms, and 400.
	if total.TTFT.Len() != 3 || !nearly(total.TTFT.Mean(), 1400/3.0) {
		t.Errorf("TTFT %v", total.TTFT.Mean())
	}
	// Two are in flight from 1.5 to 1.6 s of the first's clock: those sent at 1 and
	// at 1.5 s; from 1.6 to 1.7 the third, too.
	if total.Truth.PeakConcurrency != 3 {
		t.Errorf("%d at once", total.Truth.PeakConcurrency)
	}
	if last := recordsOf(total)[3]; last.Times.End != 3300*msec || recordsOf(b)[0].Times.End != 2300*msec {
		t.Errorf("the last ends at %v, its own record says %v", last.Times.End, recordsOf(b)[0].Times.End)
	}
	if only := (&Group{Shared: []*metrics.Summary{b}}).Total(); only.When.Began != 500*msec || only.When.Seconds != 1.8 || !only.When.Date.Equal(epoch.Add(3300*msec)) {
		t.Errorf("of the second alone: from %v, %v s, to %v", only.When.Began, only.When.Seconds, only.When.Date)
	}
	b.Header.Config.RequestRate, b.Header.Config.MaxConcurrency, b.Header.Config.NumPrompts = math.Inf(1), 0, -1
	a.Header.Config.NumPrompts = 0 // as many as a duration takes
	if c := g.Total().Header.Config; c.NumPrompts != -1 {
		t.Errorf("%d prompts together", c.NumPrompts)
	}
	b.Header.Config.NumPrompts = 3
	if c := g.Total().Header.Config; !math.IsInf(c.RequestRate, 1) || c.MaxConcurrency != 0 || c.NumPrompts != 0 {
		t.Errorf("%+v", c)
	}
}

func TestAllAreLoadedFromTheLastToBeginToTheFirstToEnd(t *testing.T) {
	rate := metrics.Config{RequestRate: 5}
	a := shared(metrics.Header{Target: "a", Config: rate}, 0, 5, sentAt(0, 100, 300), sentAt(2000, 2100, 2900), sentAt(4000, 4100))
	b := shared(metrics.Header{Target: "b", Config: rate}, time.Second, 5, sentAt(500, 600, 700), sentAt(2500, 2600))
	solo := shared(metrics.Header{Target: "b", Solo: true, Config: rate}, time.Hour, 5, sentAt(500, 600, 700), sentAt(700, 800), sentAt(2500, 2600))
	g := Groups([]*metrics.Summary{solo, a, b})[0]
	w, ok := g.Loaded()
	if want := (metrics.Window{From: 1500 * msec, To: 3500 * msec}); w != want || !ok {
		t.Fatalf("%v, %v; want %v", w, ok, want)
	}
	part := g.Within(w)
	if got := part.Shared[0]; got.Parts.Of.Window != w || got.Parts.Of.Inside != 1 || got.Completed != 1 {
		t.Errorf("a: %+v", got.Parts.Of)
	}
	own := metrics.Window{From: 500 * msec, To: 2500 * msec} // on their own clocks
	if got := part.Shared[1]; got.Parts.Of.Window != own || got.Parts.Of.Inside != 1 || got.Parts.Of.Crossing != 1 {
		t.Errorf("b: %+v", got.Parts.Of)
	}
	if got := part.Solo[0]; got.Parts.Of.Window != own || got.Completed != 2 {
		t.Errorf("b alone: %+v", got.Parts.Of)
	}
	if got := g.Total().Within(w); got.Parts.Of.Inside != 2 || got.Parts.Of.Requests != 5 {
		t.Errorf("all: %+v", got.Parts.Of)
	}

	after := shared(metrics.Header{Target: "c", Config: rate}, 0, 9, sentAt(8000, 8100), sentAt(9000, 9100))
	g.Shared = append(g.Shared, after)
	if w, ok := g.Loaded(); ok {
		t.Errorf("with one that came after: %v", w)
	}
	g.Shared[2] = shared(metrics.Header{Target: "c", Config: rate}, 0, 9, sentAt(2000, 8100))
	if w, ok := g.Loaded(); ok {
		t.Errorf("with one of a single request: %v", w)
	}
}

func TestSlowdownIsSharedAgainstAlone(t *testing.T) {
	target := func(name string, solo bool, seconds, ttft, tpot float64, n int) *metrics.Summary {
		s := &metrics.Summary{Header: &metrics.Header{Target: name, Group: "g", Solo: solo}, Rates: metrics.Rates{Output: 100 / seconds, Requests: 10 / seconds}}
		for range n {
			s.TTFT.Add(ttft)
			s.TPOT.Add(tpot)
		}
		return s
	}
	sums := []*metrics.Summary{
		target("a", true, 1, 0.1, 0.01, 1000), target("b", true, 1, 0.1, 0.02, 999),
		target("a", false, 2, 0.4, 0.02, 1000), target("b", false, 4, 0.2, 0.04, 1000),
	}
	in := Groups(sums)[0].Interference()
	if !in.Compared || len(in.Effects) != 2 || in.Effects[1].Target != "b" || in.Bound != nil {
		t.Fatalf("%+v", in)
	}
	for i, want := range [][]float64{{4, 4, 4, 2, 2, 2, 2}, {2, 2, 2, 2, 2, 4, 4}} {
		for k, m := range Measures() {
			if got := in.Effects[i].Slowdown(m); !nearly(got, want[k]) {
				t.Errorf("%s: %s is %v, want %v", in.Effects[i].Target, m.Name, got, want[k])
			}
			if few := m.Few(in.Effects[i].Alone); few != (i == 1 && strings.HasPrefix(m.Name, "p99")) || m.Few(in.Effects[i].Shared) {
				t.Errorf("%s: %s is of few: %v", in.Effects[i].Target, m.Name, few)
			}
		}
	}
	// Progress 1/2 and 1/4: (3/4)² / (2 · 5/16). Slowdowns 4 and 2, 2 and 2.
	for i, want := range []Fairness{{Of: "progress", Jain: 0.9, Ratio: 2}, {Of: "ttft_slowdown", Jain: 0.9, Ratio: 2}, {Of: "tpot_slowdown", Jain: 1, Ratio: 1}} {
		if got := in.Fairness[i]; got.Of != want.Of || !nearly(got.Jain, want.Jain) || !nearly(got.Ratio, want.Ratio) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}

	// One of the two alone is no comparison of progress.
	in = Groups(sums[1:])[0].Interference()
	if !in.Compared || len(in.Fairness) != 1 || in.Fairness[0].Of != "output_throughput" || !nearly(in.Fairness[0].Jain, 0.9) || !math.IsNaN(in.Effects[0].Slowdown(Measures()[0])) {
		t.Errorf("%+v", in)
	}
	if Groups(sums[2:])[0].Interference().Compared {
		t.Error("compared with nothing")
	}
}

func TestATargetWithoutAnswersHasNoSlowdown(t *testing.T) {
	good := metrics.Header{Target: "a", Config: metrics.Config{RequestRate: 5}}
	bad := metrics.Header{Target: "b", Config: metrics.Config{RequestRate: 5}}
	alone := good
	alone.Solo = true
	aloneBad := bad
	aloneBad.Solo = true
	fine := func() []*record.Record { return []*record.Record{sentAt(0, 100, 200), sentAt(200, 300, 400)} }
	broken := func() []*record.Record { return []*record.Record{refused(0, 1), refused(200, 201)} }
	g := Groups([]*metrics.Summary{
		shared(alone, 0, 1, fine()...), shared(aloneBad, 0, 1, fine()...), shared(good, 0, 1, fine()...), shared(bad, 0, 1, broken()...),
	})[0]
	for _, in := range []*Interference{g.Interference(), g.Within(metrics.Window{From: 0, To: 200 * msec}).Interference()} {
		for _, m := range Measures() {
			if v := in.Effects[1].Slowdown(m); !math.IsNaN(v) {
				t.Errorf("%s: %v", m.Name, v)
			}
		}
		if f := in.Fairness[0]; f.Jain != 0.5 || !math.IsInf(f.Ratio, 1) {
			t.Errorf("%+v", f)
		}
		if f := in.Fairness[1]; !math.IsNaN(f.Jain) || !math.IsNaN(f.Ratio) {
			t.Errorf("%+v", f)
		}
		// Both kept the rate that was asked for.
		if strings.Join(in.Bound, " ") != "a b" {
			t.Errorf("bound: %v", in.Bound)
		}
	}
}
