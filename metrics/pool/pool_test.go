package pool

import (
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
)

const tick = 100 * time.Millisecond

// run is a run whose pool held so much at each tick, in bytes; -1 could not be read.
func run(held ...int64) *metrics.Summary {
	h := &metrics.Header{Run: "r"}
	c := aspect.Collector(h)
	c.Keep.Trace = true
	for i, n := range held {
		s := &samples.Sample{At: time.Duration(i) * tick, Pool: &samples.Pool{Name: "a"}}
		if n < 0 {
			s.Error = "gone"
		} else {
			*s.Pool = samples.Pool{Name: "a", Limit: 1000, Used: n / 2, Prealloc: n - n/2}
		}
		c.AddSample(s)
	}
	for i := range 8 {
		r := &record.Record{Run: "r", Index: i, Result: record.Result{Status: 200}, Tokens: record.Tokens{Out: 1, OutAsked: 1}}
		r.Times.Sent, r.Times.Due, r.Times.Slot = time.Duration(i)*tick, time.Duration(i)*tick, time.Duration(i)*tick
		took := 10 * time.Millisecond
		if i >= 2 && i < 4 {
			took = 60 * time.Millisecond
		}
		r.Answer.Chunks.Append(r.Times.Sent + took)
		r.Times.FirstContent, r.Times.Last, r.Times.End = r.Times.Sent+took, r.Times.Sent+took, r.Times.Sent+took
		c.Add(r)
	}
	return c.Summary(1)
}

func TestLargestMovesAreFoundBetweenAnyReadings(t *testing.T) {
	for _, test := range []struct {
		name            string
		held            []int64
		taken, returned Move
	}{
		{"no change", []int64{5, 5, 5}, Move{}, Move{}},
		{"only up", []int64{0, 0, 10}, Move{10, tick, tick, 10}, Move{}},
		{"a small burst, then a large one", []int64{0, 20, 10, 100, 95, 100, 30, 20}, Move{100, 0, 3 * tick, 100}, Move{80, 5 * tick, 2 * tick, 80}},
		{"nine tenths before the end", []int64{0, 50, 90, 91, 100, 0}, Move{100, 0, 2 * tick, 90}, Move{100, 4 * tick, tick, 100}},
		{"not read in between", []int64{0, -1, 100, -1, 0}, Move{100, 0, 2 * tick, 100}, Move{100, 2 * tick, 2 * tick, 100}},
	} {
		c := Of(run(test.held...))
		if got := c.Taken(); got != test.taken {
			t.Errorf("%s: taken %+v, want %+v", test.name, got, test.taken)
		}
		if got := c.Returned(); got != test.returned {
			t.Errorf("%s: returned %+v, want %+v", test.name, got, test.returned)
		}
	}
}

// The pool begins to grow after the reading at 200 ms: the requests sent then and later are the
// first, and the one whose first chunk came before is not.
func TestFirstRequestsAfterTheRiseAreApart(t *testing.T) {
	p := Of(run(40, 20, 20, 80, 90)).Paid()
	want := Paid{First: 5, Rest: 3, MeanFirst: (2*60 + 3*10) * time.Millisecond / 5, MeanRest: 10 * time.Millisecond}
	if p != want {
		t.Errorf("%+v, want %+v", p, want)
	}
	if p := Of(run(40, 40)).Paid(); p != (Paid{}) {
		t.Errorf("without a rise: %+v", p)
	}
}

func TestOnlyOnePoolHasACourse(t *testing.T) {
	s := run(1, 2)
	s.Kept.Trace.Samples[1].Pool.Name = "b"
	if Of(s) != nil || Of(run()) != nil || Of(run(-1, -1)) != nil || Of(&metrics.Summary{}) != nil {
		t.Error("there is a course of no pool, or of two")
	}
	c := Of(run(10, -1, 30))
	if least, most := c.Range(); least != 10 || most != 30 || c.Mean() != 10 || !c.Readings[1].Unknown || c.Readings[2].Used != 15 {
		t.Errorf("%+v, mean %v", c, c.Mean())
	}
}
