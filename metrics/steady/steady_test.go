package steady

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/numpy"
	"github.com/servebench/servebench/metrics/record"
)

const msec = time.Millisecond

// traced is a run of these requests, with their Trace.
func traced(c metrics.Config, seconds float64, records ...*record.Record) *metrics.Summary {
	collector := metrics.NewCollector(&metrics.Header{Config: c})
	collector.Keep.Trace = true
	for _, r := range records {
		collector.Add(r)
	}
	return collector.Summary(seconds)
}

func TestTruncationMinimizesTheErrorOfTheMean(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		want   int
		ok     bool
	}{
		"nothing to cut":     {[]float64{3, 3, 3, 3, 3, 3, 3, 3}, 0, true},
		"a rise at first":    {[]float64{0, 1, 3, 3, 3, 3, 3, 3}, 2, true},
		"noise":              {[]float64{4, 3, 4, 3, 4, 3, 4, 3}, 0, true},
		"a rise in noise":    {[]float64{0, 4, 3, 4, 3, 4, 3, 4}, 1, true},
		"a dip near the end": {[]float64{3, 3, 3, 3, 3, 3, 2, 3}, 0, true},
		"rising throughout":  {[]float64{1, 2, 3, 4, 5, 6, 7, 8}, 4, false},
		"steady too late":    {[]float64{9, 7, 5, 3, 1, 0, 0, 0}, 4, false},
	} {
		// The definition, term by term.
		best := slices.MinFunc([]int{0, 1, 2, 3, 4}, func(a, b int) int {
			error := func(d int) float64 {
				kept := c.values[d:]
				return numpy.Std(kept) * numpy.Std(kept) / float64(len(kept))
			}
			switch x := error(a) - error(b); {
			case x < -1e-12:
				return -1
			case x > 1e-12:
				return 1
			}
			return a - b
		})
		if n, ok := truncation(c.values); n != c.want || n != best || ok != c.ok {
			t.Errorf("%s: %d, %v; want %d, by the definition %d, %v", name, n, ok, c.want, best, c.ok)
		}
	}
}

// closed are requests of 100 ms one after the other in so many slots, which are
// filled one by one, each after as long.
func closed(slots, each int, after time.Duration) (records []*record.Record) {
	for slot := range slots {
		at := time.Duration(slot) * after
		for range each {
			records = append(records, &record.Record{Times: record.Times{Sent: at, End: at + 100*msec}})
			at += 100 * msec
		}
	}
	return records
}

func TestASteadyStateBeginsWhereTheLoadIsFull(t *testing.T) {
	full := traced(metrics.Config{RequestRate: math.Inf(1), MaxConcurrency: 4}, 1, closed(4, 25, 0)...)
	if w, ok := State(full); !ok || w != (metrics.Window{From: 0, To: 2400 * msec}) {
		t.Errorf("%v, %v", w, ok)
	}
	// The last of 4 slots is filled after 300 ms; samples are 33 ms apart.
	ramped := closed(4, 25, 100*msec)
	warm := &record.Record{Phase: record.WarmUp, Times: record.Times{Sent: 0, End: time.Hour}}
	if w, ok := State(traced(metrics.Config{}, 1, append(ramped, warm)...)); !ok || w.From < 250*msec || w.From > 350*msec || w.To != 2700*msec {
		t.Errorf("ramped: %v, %v", w, ok)
	}
	// Each second brings one request more than the last: there is no steady state.
	var rising []*record.Record
	for i := range 100 {
		rising = append(rising, &record.Record{Times: record.Times{Sent: time.Duration(i) * time.Second, End: time.Hour}})
	}
	if w, ok := State(traced(metrics.Config{}, 1, rising...)); ok {
		t.Errorf("rising: %v", w)
	}
	if w, ok := State(traced(metrics.Config{}, 1, closed(4, 12, 0)...)); ok {
		t.Errorf("of 48 requests: %v", w)
	}
	if w, ok := State(traced(metrics.Config{}, 1)); ok || w != (metrics.Window{}) {
		t.Errorf("of none: %v", w)
	}
	burst := closed(60, 1, 0)
	if w, ok := State(traced(metrics.Config{}, 1, burst...)); ok {
		t.Errorf("of a burst: %v", w)
	}
}
