package course_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/course"
	"github.com/servebench/servebench/metrics/record"
)

const msec = time.Millisecond

// courseOf is the Course of n requests that go one after the other through that many slots, or start 10 ms apart
// if there are none. shape says how long an answer takes to its first chunk, and between its ten chunks.
func courseOf(n, slots int, shape func(i int) (ttft, gap time.Duration)) *course.Course {
	config := metrics.Config{RequestRate: 100, Burstiness: 1}
	if slots > 0 {
		config.RequestRate, config.MaxConcurrency = math.Inf(1), slots
	}
	c := metrics.NewCollector(&metrics.Header{Config: config})
	free := make([]time.Duration, max(slots, 1))
	for i := range n {
		ttft, gap := shape(i)
		r := record.Record{Index: i, Tokens: record.Tokens{Out: 10}, Times: record.Times{Sent: time.Duration(i) * 10 * msec}}
		if slots > 0 {
			r.Times.Sent = free[i%slots]
		}
		for j := range 10 {
			r.Answer.Chunks.Append(r.Times.Sent + ttft + time.Duration(j)*gap)
		}
		r.Times.Due, r.Times.Slot, r.Times.FirstContent, r.Times.Last, r.Times.End = r.Times.Sent, r.Times.Sent, r.Answer.Chunks.First(), r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
		free[i%len(free)] = r.Times.End
		c.Add(&r)
	}
	return c.Summary(10).Truth.Course
}

// noisy is a server of 50 and 10 ms with ten percent of noise.
func noisy(r *rand.Rand) func(i int) (ttft, gap time.Duration) {
	return func(int) (ttft, gap time.Duration) {
		return scaled(50*msec, 1+0.1*r.NormFloat64()), scaled(10*msec, 1+0.1*r.NormFloat64())
	}
}

func scaled(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }

func TestASteadyRunHasNoChange(t *testing.T) {
	for seed := range uint64(200) {
		c := courseOf(200, int(seed%3)*8, noisy(rand.New(rand.NewPCG(seed, 1))))
		if c.Change != nil || c.Modes != nil || c.Quick > 0 {
			t.Errorf("seed %d: %+v", seed, c)
		}
	}
}

// The first fifth is five times slower.
func TestAWarmUpIsAChange(t *testing.T) {
	for _, slots := range []int{0, 16} {
		steady := noisy(rand.New(rand.NewPCG(7, 7)))
		c := courseOf(200, slots, func(i int) (ttft, gap time.Duration) {
			if ttft, gap = steady(i); i < 40 {
				ttft, gap = 5*ttft, 5*gap
			}
			return ttft, gap
		})
		change := c.Change
		if change == nil || math.Abs(float64(change.Requests)-40) > 10 {
			t.Fatalf("%d slots: %+v", slots, change)
		}
		if b, a := change.Before, change.After; b.TTFT < 190 || b.TPOT < 38 || math.Abs(a.TTFT-50) > 5 || math.Abs(a.TPOT-10) > 1 {
			t.Errorf("%d slots: before %+v, after %+v", slots, b, a)
		}
	}
}

func TestLatenciesThatDoubleAreAChange(t *testing.T) {
	steady := noisy(rand.New(rand.NewPCG(3, 3)))
	c := courseOf(200, 8, func(i int) (ttft, gap time.Duration) {
		ttft, gap = steady(i)
		return scaled(ttft, 1+float64(i)/200), scaled(gap, 1+float64(i)/200)
	})
	if c.Change == nil || c.Change.After.TTFT < 1.25*c.Change.Before.TTFT {
		t.Errorf("%+v", c.Change)
	}
}

// Of two replicas, one is three times slower. A few slow answers are no second kind, nor is a wide range.
func TestTwoReplicasAreTwoModes(t *testing.T) {
	slowed := func(slow func(i int) float64) *course.Course {
		steady := noisy(rand.New(rand.NewPCG(9, 9)))
		return courseOf(200, 0, func(i int) (ttft, gap time.Duration) {
			ttft, gap = steady(i)
			return scaled(ttft, slow(i)), scaled(gap, slow(i))
		})
	}
	c := slowed(func(i int) float64 { return float64(1 + i%2*2) })
	if m := c.Modes; m == nil || m.Share != 0.5 || math.Abs(m.Fast-10) > 1 || math.Abs(m.Slow-30) > 3 {
		t.Errorf("replicas: %+v", m)
	}
	for name, slow := range map[string]func(int) float64{
		"a few slow": func(i int) float64 { return float64(1 + i%12/11*2) },
		"a range":    func(i int) float64 { return 1 + float64(i%20)/10 },
	} {
		if c := slowed(slow); c.Modes != nil {
			t.Errorf("%s: %+v", name, c.Modes)
		}
	}
}

// An error that is sent as text comes at once.
func TestQuickAnswersAreCounted(t *testing.T) {
	steady := noisy(rand.New(rand.NewPCG(5, 5)))
	c := courseOf(200, 0, func(i int) (ttft, gap time.Duration) {
		if ttft, gap = steady(i); i%10 == 3 {
			return msec, 0
		}
		return ttft, gap
	})
	if c.Quick != 20 || c.Quickest != msec {
		t.Errorf("%d in %v", c.Quick, c.Quickest)
	}
}

// A ramp, a trace, and a load that starts at once change by themselves.
func TestAnUnevenLoadHasNoCourse(t *testing.T) {
	for name, config := range map[string]metrics.Config{
		"ramp": {RequestRate: 100, RampUp: new(metrics.RampUp)}, "trace": {RequestRate: 100, SelfTimed: true}, "curve": {RequestRate: 100, RateCurve: "x"},
		"at once": {RequestRate: math.Inf(1)}, "sessions": {RequestRate: 100, MaxSessions: 3}, "whole": {RequestRate: 100, Whole: true},
	} {
		c := metrics.NewCollector(&metrics.Header{Config: config})
		for i := range 100 {
			r := &record.Record{Index: i, Times: record.Times{Sent: time.Duration(i) * 10 * msec}, Tokens: record.Tokens{Out: 1}}
			r.Answer.Chunks.Append(r.Times.Sent + time.Duration(10+10*(i/50))*msec)
			r.Times.Last = r.Answer.Chunks.Last()
			c.Add(r)
		}
		if got := c.Summary(1).Truth.Course; got.Of != 0 || got.Change != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
