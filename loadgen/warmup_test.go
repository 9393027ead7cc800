package loadgen

import (
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/watch/sources"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// with changes a Plan.
type with func(p *Plan)

// plan is one of a few random prompts for a server that knows nothing but its model.
func plan(t *testing.T, changes ...with) *Plan {
	t.Helper()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	p := &Plan{
		Server:   Server{BaseURL: server.URL, Model: "stub-32000"},
		Workload: Workload{NumPrompts: 1000, Random: dataset.Random{InputLen: 4, OutputLen: 2}},
		Limits:   Limits{Connect: time.Minute, Call: time.Minute},
	}
	for _, change := range changes {
		change(p)
	}
	return p.complete()
}

// rate has so many requests a second.
func rate(perSecond float64) with { return func(p *Plan) { p.Traffic.RequestRate = perSecond } }

// prompts has so many requests, whatever time there is.
func prompts(n int) with {
	return func(p *Plan) { p.Workload.NumPrompts, p.Traffic.Counted = n, true }
}

// slots has so many requests in flight at most.
func slots(n int) with { return func(p *Plan) { p.Traffic.MaxConcurrency = &n } }

// warmedUp has a warm-up.
func warmedUp(d time.Duration) with { return func(p *Plan) { p.Traffic.WarmUp = d } }

// lasting has the load go on for a time.
func lasting(d time.Duration) with { return func(p *Plan) { p.Traffic.Duration = d } }

// along has a rate that changes.
func along(t *testing.T, spec string) with {
	curve, err := arrivals.ParseCurve(spec)
	if err != nil {
		t.Fatal(err)
	}
	return func(p *Plan) { p.Traffic.Curve = curve }
}

// rising has a rate that rises evenly.
func rising(from, to int) with {
	return func(p *Plan) { p.Traffic.RampUp = &metrics.RampUp{Strategy: "linear", Start: from, End: to} }
}

// evenly has gaps of one length, under a rule.
func evenly(rule arrivals.Rule) with {
	return func(p *Plan) { p.Traffic.Rule, p.Traffic.Burstiness = rule, math.Inf(1) }
}

// primed is a target that is ready to be loaded, and its load.
func primed(t *testing.T, changes ...with) (*measurement, engine.Load) {
	t.Helper()
	b := measuring(ready(t, plan(t, changes...)))
	if err := b.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	load, err := b.load()
	if err != nil {
		t.Fatal(err)
	}
	return b, load
}

// due are the first n times of a schedule.
func due(s engine.Schedule, n int) (times []time.Duration) {
	for at := range s {
		if times = append(times, at); len(times) == n {
			break
		}
	}
	return times
}

func TestWarmUpIsOfTheLoadsKindAndNotItsRequests(t *testing.T) {
	b, load := primed(t, rate(5), prompts(10), warmedUp(2*time.Second), slots(2), func(p *Plan) { p.Traffic.Delay = time.Second })
	w := load.WarmUp
	if w.Lasts != 2*time.Second || b.header.Began() != 3*time.Second || load.Delay != time.Second || load.Concurrency != 2 {
		t.Errorf("%v of warm-up, measured from %v", w.Lasts, b.header.Began())
	}
	before, after := due(w.Schedule, 100), due(load.Schedule, 100)
	if len(before) != 10 || len(after) != 10 || slices.Equal(before[:2], after[:2]) {
		t.Errorf("due %v, then %v", before, after)
	}
	prompts := map[string]bool{}
	n := 0
	for _, source := range []func(func(string) bool){firstPrompts(t, load, 10), firstPrompts(t, engine.Load{Source: w.Source}, 10)} {
		for prompt := range source {
			prompts[prompt] = true
			n++
		}
	}
	if n != 20 || len(prompts) != 20 {
		t.Errorf("%d prompts, %d of them different", n, len(prompts))
	}
}

func firstPrompts(t *testing.T, load engine.Load, n int) func(func(string) bool) {
	return func(yield func(string) bool) {
		left := n
		for c, err := range load.Source {
			if err != nil {
				t.Fatal(err)
			}
			if left--; !yield(c.Turns[0].Prompt) || left == 0 {
				return
			}
		}
	}
}

func TestWarmUpGoesAtTheRateAtWhichTheLoadBegins(t *testing.T) {
	for _, row := range []struct {
		shape  with
		warmUp time.Duration
		want   int
	}{{along(t, "up-down:4,9"), 5 * time.Second, 20}, {rising(3, 9), 2 * time.Second, 6}} {
		_, load := primed(t, row.shape, warmedUp(row.warmUp))
		if got := len(due(load.WarmUp.Schedule, 1000)); got != row.want {
			t.Errorf("%d requests before, want %d", got, row.want)
		}
	}
}

func TestClosedLoopOfADurationHasNoSchedule(t *testing.T) {
	b, load := primed(t, slots(3), lasting(9*time.Second), warmedUp(time.Second), func(p *Plan) { p.Traffic.ProbeRate = 2 })
	if load.Schedule != nil || load.WarmUp.Schedule != nil || load.Stop != 9*time.Second || b.workload.N != math.MaxInt {
		t.Errorf("%+v, %d prompts", load, b.workload.N)
	}
	if b.probes.prober.Pause != 500*time.Millisecond {
		t.Errorf("a pause of %v", b.probes.prober.Pause)
	}
}

// A prompt that the warm-up has sent is in the server's prefix cache. One that
// waited in vain to be sent is not.
func TestRequestsThatRepeatPromptsAreCounted(t *testing.T) {
	b, load := primed(t, custom(t, 3), prompts(3), slots(2), warmedUp(time.Second))
	for range firstPrompts(t, load, 3) {
	}
	for range firstPrompts(t, engine.Load{Source: load.WarmUp.Source}, 50) {
	}
	for _, row := range []struct {
		index, turn int
		phase       record.Phase
		want        int64
	}{
		{0, 0, record.WarmUp, 0}, {1, 0, record.WarmUp, 0}, {2, 0, record.WarmUp, 0},
		{0, 0, record.Main, 1}, {0, 1, record.Main, 1}, {2, 0, record.Drain, 2}, {3, 0, record.WarmUp, 3},
	} {
		b.witness.Prompts.Send(&record.Record{Index: row.index, Turn: row.turn, Phase: row.phase})
		if n := b.witness.Prompts.Repeated; n != row.want {
			t.Errorf("%+v: %d repeated", row, n)
		}
	}
}

func TestLastRequestsOfTheWarmUpAreNoPartOfTheDuration(t *testing.T) {
	for _, row := range []struct {
		last, lasts time.Duration
		name        string
		warmUp      time.Duration
		want        time.Duration // of a trial of 20 s that began after one
	}{
		{9 * time.Second, 0, "", 2 * time.Second, 6 * time.Second},
		{9 * time.Second, 12 * time.Second, "", 2 * time.Second, 9 * time.Second},
		{9 * time.Second, 0, "", 0, 19 * time.Second},
		{9 * time.Second, 0, "a", 0, 8 * time.Second},
		{9 * time.Second, time.Hour, "a", 0, 19 * time.Second}, // interrupted
		{0, 0, "", 30 * time.Second, 0},
	} {
		p := &Plan{Traffic: Traffic{WarmUp: row.warmUp}, Target: row.name}
		m := &measurement{prepared: &prepared{voice: voice{plan: p}}, lasts: row.lasts, numbers: numbers{last: row.last}}
		m.header = &metrics.Header{Delay: time.Second, WarmUp: row.warmUp}
		if got := m.took(20 * time.Second); got != row.want {
			t.Errorf("last %v, lasts %v, warm-up %v: took %v, want %v", row.last, row.lasts, row.warmUp, got, row.want)
		}
	}
}

// The gap after the last request of a run under the rule of v0.9.2 is not waited
// for once the run's time is over.
func TestLoadLastsNoLongerThanItsDuration(t *testing.T) {
	for until, want := range map[time.Duration]time.Duration{0: 50 * time.Second, 5 * time.Second: 5 * time.Second} {
		_, load := primed(t, lasting(until), evenly(arrivals.UpToV092), rate(1), prompts(50))
		if load.Lasts != want {
			t.Errorf("until %s: lasts %v, want %v", until, load.Lasts, want)
		}
	}
}

// As drawn, the gaps of v0.9.2 may end long before the warm-up does, and the server
// would be idle when the measured part begins.
func TestWarmUpGoesOnUntilTheHandover(t *testing.T) {
	for seed := range 5 {
		_, load := primed(t, rate(2), prompts(5), warmedUp(4*time.Second), func(p *Plan) { p.Traffic.Rule, p.Workload.Seed = arrivals.UpToV092, int64(seed) })
		times := due(load.WarmUp.Schedule, 1000)
		if last := times[len(times)-1]; len(times) != 8 || last != 4*time.Second {
			t.Errorf("%d requests before, the last due after %v of 4 s", len(times), last)
		}
	}
}

// What the warm-up has in flight at the handover may end behind all that is measured.
func TestTheLoadEndsWithItsLastMeasuredRequest(t *testing.T) {
	b, _ := primed(t, prompts(3), warmedUp(time.Second), slots(2))
	run := b.header.Run
	records := func(yield func(*record.Record, error) bool) {
		for _, rec := range []*record.Record{
			{Run: run, Times: record.Times{End: 5 * time.Second}}, {Run: run, Times: record.Times{End: 3 * time.Second}}, {Run: run, Phase: record.WarmUp, Result: record.Result{Class: record.Stall}, Times: record.Times{End: 9 * time.Second}},
		} {
			if !yield(rec, nil) {
				return
			}
		}
	}
	s, n := &measure{targets: []*measurement{b}, gpus: new(sources.GPUs)}, &b.numbers
	if err := s.take(records); err != nil || n.last != 5*time.Second || n.warmUp.failed != 1 {
		t.Errorf("%v, the last ended at %v, %d of the warm-up failed", err, n.last, n.warmUp.failed)
	}
}

func TestRateChangesCountFromTheHandoverAndEndWithTheDuration(t *testing.T) {
	for until, want := range map[time.Duration][]int{0: {1, 2, 3}, 1600 * time.Millisecond: {1, 2}} {
		b, load := primed(t, lasting(until), rising(1, 3), prompts(3), evenly(arrivals.SinceV010), warmedUp(time.Second), func(p *Plan) { p.Traffic.Delay = time.Second })
		changes, err := b.rateChanges()
		if err != nil {
			t.Fatal(err)
		}
		times := append(due(load.Schedule, 3), 0)
		var rates []int
		for i, c := range changes {
			rates = append(rates, c.RPS)
			if at := c.At.Sub(b.header.Epoch) - 2*time.Second; !slices.Contains(times, at) {
				t.Errorf("until %s: change %d comes %v after the handover, where requests are due at %v", until, i, at, times)
			}
		}
		if !slices.Equal(rates, want) {
			t.Errorf("until %s: rates %v, want %v; due at %v", until, rates, want, times)
		}
	}
}

func TestFewPromptsBehindAWarmUpTakeAllSlots(t *testing.T) {
	for warmUp, want := range map[time.Duration]int{0: 3, time.Second: 8} {
		if b, _ := primed(t, warmedUp(warmUp), prompts(3), slots(8)); b.atOnce() != want {
			t.Errorf("warmed up for %s: %d at once, want %d", warmUp, b.atOnce(), want)
		}
	}
}
