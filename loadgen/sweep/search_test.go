package sweep

import (
	"math"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
)

// searched runs a search to its end on a server that holds up to a value, and
// fails the nth probe there besides.
func searched(t *testing.T, s *Search, holds func(value float64, nth int) bool) (best float64, history []Probe) {
	t.Helper()
	tried := map[float64]int{}
	for range 100 {
		value, best, over := s.Next(history)
		if over {
			return best, history
		}
		if value < s.From || value > s.To {
			t.Fatalf("%g is outside %g to %g", value, s.From, s.To)
		}
		tried[value]++
		history = append(history, Probe{value, holds(value, tried[value])})
	}
	t.Fatalf("no end: %v", history)
	return 0, nil
}

func TestSearchFindsTheHighestValueThatHolds(t *testing.T) {
	for _, s := range []Search{{From: 1, To: 64, Step: 1}, {From: 0.5, To: 20, Step: 0.1, Confirm: 2}, {From: 3, To: 4, Step: 5, Confirm: 1}} {
		for i := -1; i < s.steps(); i++ {
			limit := s.value(i)
			best, history := searched(t, &s, func(value float64, _ int) bool { return value <= limit+1e-9 })
			if i < 0 && !math.IsNaN(best) || i >= 0 && math.Abs(best-limit) > 1e-9 {
				t.Errorf("%+v: found %g, want %g", s, best, limit)
			}
			if len(history) > s.Most() {
				t.Errorf("%+v: %d probes, promised %d", s, len(history), s.Most())
			}
		}
	}
}

// A value that held by luck is not what is found.
func TestSearchConfirms(t *testing.T) {
	s := Search{From: 1, To: 32, Step: 1, Confirm: 1}
	best, history := searched(t, &s, func(value float64, nth int) bool { return value <= 12 || value <= 17 && nth == 1 })
	if best < 10 || best > 12 {
		t.Errorf("found %g by %v", best, history)
	}
	held := 0
	for _, probe := range history {
		if probe.Value == best && probe.Held {
			held++
		}
	}
	if held != 2 {
		t.Errorf("%g held %d times: %v", best, held, history)
	}
	best, history = searched(t, &s, func(_ float64, nth int) bool { return nth == 1 })
	if !math.IsNaN(best) {
		t.Errorf("found %g by %v, where nothing is confirmed", best, history)
	}
}

func TestLimits(t *testing.T) {
	p := parse(t, "until: {flag: request-rate, from: 1, to: 9, slo: {p99-ttft: 20, mean-tpot: 5, median-itl: 7}}")
	sum := &metrics.Summary{Header: new(metrics.Header), Completed: 2}
	sum.TTFT.Add(0.010)
	sum.TTFT.Add(0.020)
	for _, row := range []struct {
		change func()
		ok     bool
		says   string
	}{
		{func() {}, true, ""},
		{func() { sum.ITL.Add(0.0071) }, false, "median ITL is 7.10 ms, above 7 ms"},
		{func() { sum.TPOT.Add(0.006) }, false, "mean TPOT is 6.00 ms, above 5 ms"},
		{func() { sum.TTFT.Add(0.021) }, false, "p99 TTFT is 20.98 ms, above 20 ms"},
		{func() { sum.Failed = 1 }, false, "1 of 3 requests failed"},
	} {
		row.change()
		if ok, why := p.Search.Holds(sum); ok != row.ok || !strings.Contains(why, row.says) {
			t.Errorf("%v %q, want %v %q", ok, why, row.ok, row.says)
		}
	}
}

// The limits are every target's, alone and among the others.
func TestLimitsHoldOnEachTarget(t *testing.T) {
	p := parse(t, "until: {flag: request-rate, from: 1, to: 9, slo: {p99-ttft: 20}}")
	for _, row := range []struct {
		slow int
		says string
	}{{-1, ""}, {0, "a alone: p99 TTFT is"}, {1, "a: p99 TTFT is"}, {2, "b: p99 TTFT is"}} {
		sums := []*metrics.Summary{
			{Header: &metrics.Header{Target: "a", Solo: true}, Completed: 1},
			{Header: &metrics.Header{Target: "a"}, Completed: 1},
			{Header: &metrics.Header{Target: "b"}, Completed: 1},
		}
		for i, sum := range sums {
			if sum.TTFT.Add(0.020); i == row.slow {
				sum.TTFT.Add(0.030)
			}
		}
		if ok, why := p.Search.Holds(sums...); ok != (row.slow < 0) || !strings.HasPrefix(why, row.says) {
			t.Errorf("%v %q, want %q", ok, why, row.says)
		}
	}
}
