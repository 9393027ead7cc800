package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/compare/numbers"
	"github.com/servebench/servebench/metrics/verdict"
	"github.com/servebench/servebench/report/comparison"
)

const twoArms = "seed: 2\nrepeats: 3\narms: [{name: old, url: 'http://h'}, {name: new, url: 'http://i'}]"

// ttftGate gates the median TTFT alone, of servers that nobody restarts.
func ttftGate() (gate gating.Gate) {
	gate.Unit = gating.PerRun
	m, _ := numbers.Find("median_ttft")
	gate.Limits = []gating.Margin{{Number: m, Relative: 0.05}}
	return gate
}

// sequentially is the plan of a sequential sweep.
func sequentially(t *testing.T, text string, q Sequential) *Plan {
	t.Helper()
	p, err := Parse("plan.yaml", strings.NewReader(text), &Flags{Words: anyFlag, Load: anyLoad, Sequential: &q})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A lab makes the runs of sequential sweeps without a server. The same run has always the same
// numbers.
type lab struct {
	noise, change float64 // of the logarithm of the TTFT
	factor        func(c cell) float64
	runs          []*brief.Run
	made          []string
	fails         func(c cell) bool
	suspect       func(c cell) string // the check that fails, empty for none
}

func (l *lab) load(_ context.Context, job *Job) (*Outcome, error) {
	l.made = append(l.made, job.name)
	if l.fails != nil && l.fails(job.cell) {
		return nil, errors.New("no server")
	}
	c := job.cell
	random := rand.New(rand.NewPCG(uint64(c.repeat), uint64(c.arm)))
	ttft := 0.1
	if l.factor != nil {
		ttft *= l.factor(c)
	}
	ttft *= math.Exp(l.noise*random.NormFloat64() + l.change*float64(c.arm))
	began := time.Unix(int64(1000*c.repeat+100*c.arm), 0)
	s := &metrics.Summary{Completed: 40, Header: &metrics.Header{
		Run: job.name, Epoch: began, Version: "1", Server: &metrics.ServerStart{ID: job.name},
		Config: metrics.Config{Model: "m", Seed: int64(c.repeat), Metadata: []metrics.KV{
			{Key: "arm", Value: job.Arm}, {Key: "repeat", Value: fmt.Sprint(c.repeat + 1)}, {Key: "max-pairs", Value: "20"},
		}},
	}, Totals: metrics.Totals{Output: 40}}
	for range 40 {
		s.TTFT.Add(ttft)
	}
	if l.suspect != nil && l.suspect(c) != "" {
		s.Trust = &verdict.Trust{Verdict: verdict.Suspect, Checks: []verdict.Check{{Name: l.suspect(c), Text: "sent late", Remedy: "use a quieter machine"}}}
	}
	l.runs = append(l.runs, brief.Runs([]*metrics.Summary{s})...)
	return &Outcome{Sums: []*metrics.Summary{s}}, nil
}

// sweep makes the runs that are left, and returns the decision as text, and what was said.
func (l *lab) sweep(ctx context.Context, t *testing.T, dir string, q Sequential) (decision, said string, err error) {
	var talk strings.Builder
	var s *Sweep
	s = sweepOf(t, dir, sequentially(t, twoArms, q), func(ctx context.Context, job *Job) (*Outcome, error) {
		out, err := l.load(ctx, job)
		s.evidence.runs = l.runs
		return out, err
	})
	s.Talk, s.evidence.runs = &talk, l.runs
	err = s.do(ctx)
	s.journal.Close()
	var text strings.Builder
	if s.decision != nil {
		if err := comparison.Text(&text, s.decision); err != nil {
			t.Fatal(err)
		}
	}
	return text.String(), talk.String(), err
}

func TestPairsStopOnceTheyDecide(t *testing.T) {
	for _, c := range []struct {
		lab       lab
		limit     time.Duration
		want, say string
		most      int // pairs
	}{
		{lab{noise: 0.02, change: 0.2}, 0, "\nREGRESSED, on these processes only\n- median_ttft +", "", 6},
		{lab{noise: 0.02}, 0, "\nPASS, on these processes only: no gated number is worse by more than ", "", 6},
		{lab{noise: 0.7}, 0, "\nFUTILE, on these processes only\n- after ", "after 3 pairs: open; with ", 19},
		{lab{noise: 0.7}, 1, "\nFUTILE, on these processes only\n- after 3 pairs: one more would end later than after 1 s of runs\n", "", 3},
	} {
		decision, said, err := c.lab.sweep(t.Context(), t, t.TempDir(), Sequential{Pairs: 20, Limit: c.limit, Gate: ttftGate()})
		if err != nil || !strings.Contains(decision, c.want) || !strings.Contains(said, c.say) {
			t.Errorf("%+v: %v\n%s\n%s", c, err, said, decision)
		}
		if n := len(c.lab.made); n%2 == 1 || n < 6 || n > 2*c.most {
			t.Errorf("%s%d runs", decision, n)
		}
	}
}

// A sweep that is stopped after each of its runs makes the same runs, and comes to the same decision, as one
// that is not. One more time, it makes no run.
func TestSequentialSweepGoesOn(t *testing.T) { goesOn(t, lab{noise: 0.06, change: 0.1}) }

func goesOn(t *testing.T, whole lab) {
	t.Helper()
	parts := whole
	q := Sequential{Pairs: 20, Gate: ttftGate()}
	want, _, err := whole.sweep(t.Context(), t, t.TempDir(), q)
	if err != nil || len(whole.made) < 10 {
		t.Fatal(err, whole.made)
	}
	dir, decision := t.TempDir(), ""
	for i := range len(whole.made) + 1 {
		ctx, cancel := context.WithCancel(t.Context())
		parts.fails = func(cell) bool {
			if len(parts.made) == i+2 {
				parts.made = parts.made[:i+1]
				cancel()
			}
			return ctx.Err() != nil
		}
		decision, _, _ = parts.sweep(ctx, t, dir, q)
		cancel()
	}
	if decision != want || strings.Join(parts.made, "|") != strings.Join(whole.made, "|") {
		t.Errorf("made %q, want %q\n%s", parts.made, whole.made, decision)
	}
}

// A pair without one of its runs decides nothing, and the next pairs would not follow it in time.
func TestFailedRunStopsASequentialSweep(t *testing.T) {
	l, dir := lab{noise: 0.02}, t.TempDir()
	l.fails = func(c cell) bool { return c == cell{repeat: 1, arm: 1} }
	if decision, _, err := l.sweep(t.Context(), t, dir, Sequential{Pairs: 20, Gate: ttftGate()}); err != nil || decision != "" || len(l.made) != 4 {
		t.Errorf("%v, made %q\n%s", err, l.made, decision)
	}
	l.fails, l.made = nil, nil
	decision, _, err := l.sweep(t.Context(), t, dir, Sequential{Pairs: 20, Gate: ttftGate()})
	if err != nil || !strings.Contains(decision, "\nPASS") || l.made[0] != "new, repeat 2" {
		t.Errorf("%v, made %q\n%s", err, l.made, decision)
	}
}

// More pairs do not help where the server or the load is why some run cannot be judged.
func TestDoubtfulRunStopsASequentialSweep(t *testing.T) {
	l := lab{noise: 0.02, suspect: func(cell) string { return "streaming" }}
	decision, said, err := l.sweep(t.Context(), t, t.TempDir(), Sequential{Pairs: 20, Gate: ttftGate()})
	if err != nil || !strings.Contains(decision, "\nNO VERDICT\n- old run 1: SUSPECT: sent late\n") || len(l.made) != 2 {
		t.Errorf("%v, made %q\n%s", err, l.made, decision)
	}
	if remedy := "the same command keeps these runs: to make others, choose another folder with -o, or delete "; strings.Count(said, remedy) != 1 {
		t.Errorf("%s, want once %s", said, remedy)
	}
}

// repeats has the runs of an arm in these repeats, counted from 1, disturbed.
func repeats(arm int, numbers ...int) func(cell) string {
	return func(c cell) string {
		if c.arm == arm && slices.Contains(numbers, c.repeat+1) {
			return "lag"
		}
		return ""
	}
}

// A disturbed pair is made again, and neither it nor the number of its repeat has a part in the decision.
func TestDisturbedPairIsMadeAgain(t *testing.T) {
	calm := lab{noise: 0.02, change: 0.2}
	if _, _, err := calm.sweep(t.Context(), t, t.TempDir(), Sequential{Pairs: 20, Gate: ttftGate()}); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		suspect        func(cell) string
		pairs          int
		left, say      string
		without, total int // repeats
	}{
		"the old run":    {repeats(0, 2), 20, "note: left out: 1 disturbed pair, repeat 2 (old: SUSPECT: sent late)\n", "repeat 2 is not used, since it was disturbed (old: SUSPECT: sent late). Its pair is made again (1 of at most 3 times), about 1 s\n", 1, 4},
		"the new run":    {repeats(1, 1, 3), 20, "note: left out: 2 disturbed pairs, repeats 1, 3 (the first: new: SUSPECT: sent late)\n", "repeat 3 is not used, ", 2, 5},
		"one left out":   {repeats(0, 2, 3, 4, 5), 20, "note: left out: 4 disturbed pairs, repeats 2, 3, 4, 5 (", "repeat 5 is not used, since it was disturbed (old: SUSPECT: sent late). After 4 tries its pair is left out, and the next one follows\n", 4, 7},
		"the last pair":  {repeats(1, 3), 3, "note: left out: 1 disturbed pair, ", "(1 of at most 3 times)", 1, 4},
		"both sometimes": {func(c cell) string { return map[bool]string{true: "stolen CPU"}[c.repeat < 3] }, 20, "note: left out: 3 disturbed pairs, ", "(3 of at most 3 times)", 3, 6},
	} {
		t.Run(name, func(t *testing.T) {
			l := lab{noise: 0.02, change: 0.2, suspect: row.suspect}
			decision, said, err := l.sweep(t.Context(), t, t.TempDir(), Sequential{Pairs: row.pairs, Gate: ttftGate()})
			if err != nil || !strings.Contains(decision, "\nREGRESSED") || !strings.Contains(decision, row.left) || !strings.Contains(said, row.say) {
				t.Errorf("%v\n%s\n%s", err, said, decision)
			}
			if len(l.made) != 2*row.total || !strings.Contains(decision, fmt.Sprintf("paired, %d pairs of runs, of at most 20\n", row.total-row.without)) {
				t.Errorf("%d runs\n%s", len(l.made), decision)
			}
		})
	}
}

// Pairs are left out by the trust in the client alone: the numbers of a disturbed pair change nothing.
func TestDisturbedPairsHaveNoPartInTheDecision(t *testing.T) {
	decide := func(factor float64) string {
		l := lab{noise: 0.02, suspect: repeats(0, 1, 4), factor: func(c cell) float64 {
			if c.repeat == 0 || c.repeat == 3 {
				return factor
			}
			return 1
		}}
		decision, _, err := l.sweep(t.Context(), t, t.TempDir(), Sequential{Pairs: 20, Gate: ttftGate()})
		if err != nil {
			t.Fatal(err)
		}
		return decision
	}
	if a, b := decide(1), decide(100); a != b {
		t.Errorf("%s\n%s", a, b)
	}
}

// A machine that disturbs pair after pair ends the sweep, without a verdict; so do the most pairs and the time.
func TestHopelessMachineEndsASequentialSweep(t *testing.T) {
	const remedy = "note: disturbed pairs: use a quieter machine; --despite suspect uses them as they are\n"
	always := func(from, to int) func(cell) string {
		return func(c cell) string { return map[bool]string{true: "lag"}[c.repeat+1 >= from && c.repeat+1 <= to] }
	}
	for name, row := range map[string]struct {
		suspect func(cell) string
		q       Sequential
		want    []string
		made    int // repeats
	}{
		"always":       {always(1, 99), Sequential{Pairs: 20}, []string{"\nNO VERDICT\n- after 0 pairs and 12 disturbed ones: the last 3 pairs were disturbed in each of 4 tries (the last one: new: SUSPECT: sent late)\n", "note: SUSPECT runs: use a quieter machine, and repeat them; "}, 12},
		"from then on": {always(3, 99), Sequential{Pairs: 20}, []string{"\nNO VERDICT\n- after 2 pairs and 12 disturbed ones: ", "note: left out: 12 disturbed pairs, ", remedy}, 14},
		"the most":     {always(2, 9), Sequential{Pairs: 4}, []string{"\nNO VERDICT\n- after 2 pairs and 8 disturbed ones, which are the most\n", remedy}, 10},
		"the last":     {always(2, 9), Sequential{Pairs: 3}, []string{"\nNO VERDICT\n- after 1 pair and 8 disturbed ones, of which 2 pairs in each of 4 tries: the most are 3 (the last one: ", remedy}, 9},
		"no more time": {always(2, 9), Sequential{Pairs: 20, Limit: 1}, []string{"\nNO VERDICT\n- after 1 pair and 1 disturbed one: one more would end later than after 1 s of runs (the last one: ", remedy}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			row.q.Gate = ttftGate()
			l, dir := lab{noise: 0.7, suspect: row.suspect}, t.TempDir()
			decision, said, err := l.sweep(t.Context(), t, dir, row.q)
			for _, want := range row.want {
				if err != nil || !strings.Contains(decision, want) {
					t.Errorf("%v, want %q\n%s", err, want, decision)
				}
			}
			if len(l.made) != 2*row.made || !strings.Contains(said, "the same command keeps these runs: ") {
				t.Errorf("made %q\n%s", l.made, said)
			}
			again, _, err := l.sweep(t.Context(), t, dir, row.q)
			if err != nil || again != decision || len(l.made) != 2*row.made {
				t.Errorf("%v, made %q\n%s", err, l.made, again)
			}
		})
	}
}

// A sweep with disturbed pairs that is stopped after each of its runs makes the same runs, and comes to the same decision.
func TestDisturbedSweepGoesOn(t *testing.T) {
	goesOn(t, lab{noise: 0.06, change: 0.1, suspect: func(c cell) string { return repeats(c.repeat%2, 2, 3, 6)(c) }})
}

// Who takes SUSPECT runs as they are has no disturbed pairs.
func TestDespiteSuspectUsesDisturbedPairs(t *testing.T) {
	l := lab{noise: 0.02, suspect: repeats(0, 1, 2, 3)}
	gate := ttftGate()
	gate.Despite = []string{"suspect"}
	decision, said, err := l.sweep(t.Context(), t, t.TempDir(), Sequential{Pairs: 20, Gate: gate})
	if err != nil || !strings.Contains(decision, "\nPASS") || strings.Contains(decision+said, "disturbed") {
		t.Errorf("%v\n%s\n%s", err, said, decision)
	}
}

// A dry run forecasts the pairs that are left, not the repeats.
func TestForecastLeavesOutDisturbedPairs(t *testing.T) {
	l, dir, q := lab{noise: 0.02, suspect: repeats(0, 1, 2)}, t.TempDir(), Sequential{Pairs: 20, Gate: ttftGate()}
	if _, _, err := l.sweep(t.Context(), t, dir, q); err != nil || len(l.made) != 10 {
		t.Fatal(err, l.made)
	}
	var text strings.Builder
	if err := sequentially(t, twoArms, q).Describe(&text, "plan.yaml", dir); err != nil || !strings.Contains(text.String(), "at most 20 pairs: up to 44 runs: 10 done, 34 to make, about ") {
		t.Errorf("%v\n%s", err, text.String())
	}
	cost, err := sequentially(t, twoArms, q).Cost(dir)
	if err != nil || cost.Runs != 34 {
		t.Errorf("%+v, %v", cost, err)
	}
}

func TestSequentialNeedsPairs(t *testing.T) {
	for text, want := range map[string]string{
		"arms: [{name: a, url: 'http://h'}]": "it takes two arms, the old and the new one, not 1: give --arm old=COMMAND --arm new=COMMAND, or a FILE with two arms",
		strings.Replace(twoArms, "repeats: 3", "until: {flag: request-rate, from: 1, to: 4, slo: {mean-ttft: 100}}", 1): "until: it searches on each arm, and pairs need the same load on both",
	} {
		_, err := Parse("plan.yaml", strings.NewReader(text), &Flags{Words: anyFlag, Load: anyLoad, Sequential: &Sequential{Pairs: 20, Gate: ttftGate()}})
		if err == nil || err.Error() != "argument --sequential: "+want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for want, q := range map[string]Sequential{
		"--max-pairs 2: it must be at least 3": {Pairs: 2, Gate: ttftGate()},
		"the gate limits no change":            {Pairs: 20},
		"arm old has no command, so all its runs are on one start of a server: --unit run decides on these processes only": {Pairs: 20, Gate: gating.Default()},
	} {
		if _, err := Parse("plan.yaml", strings.NewReader(twoArms), &Flags{Words: anyFlag, Load: anyLoad, Sequential: &q}); err == nil || err.Error() != "argument --sequential: "+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Pairs at which one rule has looked do not go on with another.
func TestOtherRuleIsAnotherExperiment(t *testing.T) {
	digest := func(change func(*Sequential)) string {
		q := Sequential{Pairs: 20, Gate: ttftGate()}
		change(&q)
		return sequentially(t, twoArms, q).digest()
	}
	same := digest(func(*Sequential) {})
	for name, change := range map[string]func(*Sequential){
		"pairs":  func(q *Sequential) { q.Pairs = 21 },
		"alpha":  func(q *Sequential) { q.Gate.Alpha = 0.1 },
		"margin": func(q *Sequential) { q.Gate.Limits[0].Relative = 0.1 },
		"number": func(q *Sequential) { q.Gate.Limits[0].Number.Name = "p99_ttft" },
	} {
		if digest(change) == same {
			t.Errorf("another %s is the same experiment", name)
		}
	}
	if digest(func(q *Sequential) { q.Limit, q.Gate.Despite = time.Hour, []string{"suspect"} }) != same {
		t.Error("a limit of time, or --despite, makes another experiment")
	}
	if parse(t, twoArms).digest() == same {
		t.Error("a sweep of a fixed number of repeats is the same experiment")
	}
}
