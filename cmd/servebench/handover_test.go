package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics"
)

// prepared is a bench that is ready to load a simulated server, and its load.
func prepared(t *testing.T, line string) (*bench, engine.Load) {
	t.Helper()
	o := mustParse(t, line+" --random-input-len 4 --random-output-len 2 --model stub-32000 --base-url", new(wireServer).start(t))
	b := &bench{options: o, out: io.Discard, talk: io.Discard, patience: time.Minute}
	if err := b.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.begin(t.Context(), &trial{})
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
	b, load := prepared(t, "--request-rate 5 --num-prompts 10 --warmup-duration 2s --delay 1s --max-concurrency 2")
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
	for line, want := range map[string]int{
		"--rate-curve up-down:4,9 --warmup-duration 5s":                                           20,
		"--ramp-up-strategy linear --ramp-up-start-rps 3 --ramp-up-end-rps 9 --warmup-duration 2": 6,
	} {
		_, load := prepared(t, line)
		if got := len(due(load.WarmUp.Schedule, 1000)); got != want {
			t.Errorf("%s: %d requests before, want %d", line, got, want)
		}
	}
}

func TestClosedLoopOfADurationHasNoSchedule(t *testing.T) {
	b, load := prepared(t, "--max-concurrency 3 --duration 9s --warmup-duration 1s --probe-request-rate 2")
	if load.Schedule != nil || load.WarmUp.Schedule != nil || load.Stop != 9*time.Second || b.n != math.MaxInt {
		t.Errorf("%+v, %d prompts", load, b.n)
	}
	if b.prober.Pause != 500*time.Millisecond {
		t.Errorf("a pause of %v", b.prober.Pause)
	}
}

// A prompt that the warm-up has sent is in the server's prefix cache. One that
// waited in vain to be sent is not.
func TestRequestsThatRepeatPromptsAreCounted(t *testing.T) {
	b, load := prepared(t, "--dataset-name custom --skip-chat-template --no-oversample --num-prompts 3 --max-concurrency 2 --warmup-duration 1s --dataset-path "+writeCustom(t, 3))
	for range firstPrompts(t, load, 3) {
	}
	for range firstPrompts(t, engine.Load{Source: load.WarmUp.Source}, 50) {
	}
	for _, row := range []struct {
		index, turn int
		phase       metrics.Phase
		want        int64
	}{
		{0, 0, metrics.WarmUp, 0}, {1, 0, metrics.WarmUp, 0}, {2, 0, metrics.WarmUp, 0},
		{0, 0, metrics.Main, 1}, {0, 1, metrics.Main, 1}, {2, 0, metrics.Drain, 2}, {3, 0, metrics.WarmUp, 3},
	} {
		b.witness.prompts.send(&metrics.Record{Index: row.index, Turn: row.turn, Phase: row.phase})
		if n := b.witness.prompts.repeated; n != row.want {
			t.Errorf("%+v: %d repeated", row, n)
		}
	}
}

func TestLastRequestsOfTheWarmUpAreNoPartOfTheDuration(t *testing.T) {
	for _, row := range []struct {
		*bench
		warmUp time.Duration
		want   time.Duration // of a trial of 20 s that began after one
	}{
		{&bench{last: 9 * time.Second}, 2 * time.Second, 6 * time.Second},
		{&bench{last: 9 * time.Second, lasts: 12 * time.Second}, 2 * time.Second, 9 * time.Second},
		{&bench{last: 9 * time.Second}, 0, 19 * time.Second},
		{&bench{last: 9 * time.Second, name: "a"}, 0, 8 * time.Second},
		{&bench{last: 9 * time.Second, lasts: time.Hour, name: "a"}, 0, 19 * time.Second}, // interrupted
		{&bench{}, 30 * time.Second, 0},
	} {
		row.options = &options{Traffic: trafficOptions{WarmUp: row.warmUp}}
		row.header = &metrics.Header{Delay: time.Second, WarmUp: row.warmUp}
		if got := row.took(20 * time.Second); got != row.want {
			t.Errorf("last %v, lasts %v, warm-up %v: took %v, want %v", row.last, row.lasts, row.warmUp, got, row.want)
		}
	}
}

// The gap after the last request of a run under the rule of v0.9.2 is not waited
// for once the run's time is over.
func TestLoadLastsNoLongerThanItsDuration(t *testing.T) {
	for line, want := range map[string]time.Duration{
		"":              50 * time.Second,
		"--duration 5s": 5 * time.Second,
	} {
		_, load := prepared(t, line+" --arrival-rule 0.9.2 --request-rate 1 --burstiness inf --num-prompts 50")
		if load.Lasts != want {
			t.Errorf("%s: lasts %v, want %v", line, load.Lasts, want)
		}
	}
}

// As drawn, the gaps of v0.9.2 may end long before the warm-up does, and the server
// would be idle when the measured part begins.
func TestWarmUpGoesOnUntilTheHandover(t *testing.T) {
	for seed := range 5 {
		_, load := prepared(t, fmt.Sprintf("--arrival-rule 0.9.2 --request-rate 2 --num-prompts 5 --warmup-duration 4s --seed %d", seed))
		times := due(load.WarmUp.Schedule, 1000)
		if last := times[len(times)-1]; len(times) != 8 || last != 4*time.Second {
			t.Errorf("%d requests before, the last due after %v of 4 s", len(times), last)
		}
	}
}

// What the warm-up has in flight at the handover may end behind all that is measured.
func TestTheLoadEndsWithItsLastMeasuredRequest(t *testing.T) {
	b, _ := prepared(t, "--num-prompts 3 --warmup-duration 1s --max-concurrency 2")
	b.results = new(results)
	run := b.header.Run
	records := func(yield func(*metrics.Record, error) bool) {
		for _, rec := range []*metrics.Record{
			{Run: run, End: 5 * time.Second}, {Run: run, End: 3 * time.Second}, {Run: run, Phase: metrics.WarmUp, Class: metrics.Stall, End: 9 * time.Second},
		} {
			if !yield(rec, nil) {
				return
			}
		}
	}
	tr := &trial{benches: []*bench{b}}
	if err := tr.take(records); err != nil || b.last != 5*time.Second || b.warmUp.failed != 1 {
		t.Errorf("%v, the last ended at %v, %d of the warm-up failed", err, b.last, b.warmUp.failed)
	}
}

func TestRateChangesCountFromTheHandoverAndEndWithTheDuration(t *testing.T) {
	for line, want := range map[string][]int{"": {1, 2, 3}, "--duration 1600ms": {1, 2}} {
		b, load := prepared(t, line+" --ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 3 --num-prompts 3 --burstiness inf --warmup-duration 1s --delay 1s")
		changes, err := b.rateChanges()
		if err != nil {
			t.Fatal(err)
		}
		times := append(due(load.Schedule, 3), 0)
		var rates []int
		for i, c := range changes {
			rates = append(rates, c.RPS)
			if at := c.At.Sub(b.header.Epoch) - 2*time.Second; !slices.Contains(times, at) {
				t.Errorf("%s: change %d comes %v after the handover, where requests are due at %v", line, i, at, times)
			}
		}
		if !slices.Equal(rates, want) {
			t.Errorf("%s: rates %v, want %v; due at %v", line, rates, want, times)
		}
	}
}

func TestFewPromptsBehindAWarmUpTakeAllSlots(t *testing.T) {
	for line, want := range map[string]int{"": 3, "--warmup-duration 1s": 8} {
		if b, _ := prepared(t, line+" --num-prompts 3 --max-concurrency 8"); b.atOnce() != want {
			t.Errorf("%s: %d at once, want %d", line, b.atOnce(), want)
		}
	}
}
