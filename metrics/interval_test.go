package metrics

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Values of scipy 1.17.1: binom.ppf(0.025, n, p/100) and binom.ppf(0.975, n, p/100) + 1.
func TestRanksOfAnIntervalAreScipys(t *testing.T) {
	for _, row := range []struct {
		n         int
		p         float64
		low, high int
	}{
		{1, 50, 0, 2}, {1, 99, 1, 2}, {2, 99, 2, 3}, {5, 50, 0, 6}, {20, 50, 6, 15}, {60, 99, 58, 61}, {99, 99, 96, 100},
		{100, 50, 40, 61}, {100, 90, 84, 96}, {100, 99, 97, 101}, {367, 99, 359, 368}, {368, 99, 360, 368}, {600, 99, 589, 599},
		{1000, 99, 983, 997}, {1000, 99.9, 997, 1001}, {3688, 99.9, 3680, 3688}, {10000, 99.9, 9983, 9997}, {12345, 1, 102, 147},
		{1000000, 99, 989805, 990196}, {10000000, 50, 4996901, 5003100}, {10000000, 99.99, 9998938, 9999062},
	} {
		if low, high := binomialRanks(row.n, row.p/100, 0.05); low != row.low || high != row.high {
			t.Errorf("P%g of %d: ranks %d to %d, want %d to %d", row.p, row.n, low, high, row.low, row.high)
		}
	}
}

// lognormal makes values whose logarithms are normal, with a standard deviation of 0.3
// between requests and 0.2 within one.
func lognormal(random *rand.Rand, requests, each int) (d Distribution) {
	for range requests {
		own := random.NormFloat64() * 0.3
		for range each {
			d.Add(math.Exp(own + random.NormFloat64()*0.2))
		}
		d.ends = append(d.ends, d.Len())
	}
	return d
}

// In 95 of 100 runs the true percentile is in the interval. Gaps that were taken for
// independent of each other would be in it in less than half of them.
func TestIntervalsHoldTheTruePercentile(t *testing.T) {
	const runs = 300
	// Quantiles of the normal distribution: scipy 1.17.1, norm.ppf.
	normal := map[float64]float64{50: 0, 90: 1.2815515655446004, 99: 2.3263478740408408}
	for _, row := range []struct {
		requests, each int
		least, most    float64 // share of the runs
		asIndependent  float64 // the most, were gaps independent
	}{{60, 1, 0.94, 1, 1}, {500, 1, 0.94, 1, 1}, {200, 20, 0.93, 0.99, 0.7}} {
		random := rand.New(rand.NewPCG(14, uint64(row.requests)))
		hits, naive := map[float64]int{}, map[float64]int{}
		for range runs {
			d := lognormal(random, row.requests, row.each)
			for p, z := range normal {
				truth := math.Exp(z*math.Hypot(0.3, 0.2)) * 1000
				for gaps, hits := range map[bool]map[float64]int{row.each > 1: hits, false: naive} {
					d.gaps = gaps
					if i, known := d.Interval(p); known && i.Low <= truth && truth <= i.High {
						hits[p]++
					}
				}
			}
		}
		if row.each == 1 {
			hits = naive
		}
		for p := range normal {
			got, alone := float64(hits[p])/runs, float64(naive[p])/runs
			if got < row.least || got > row.most || alone > row.asIndependent {
				t.Errorf("P%g of %d × %d values: %.3f of the intervals hold it, %.3f were they independent", p, row.requests, row.each, got, alone)
			}
		}
	}
}

// What the values are too few for is not bounded, and what is not known not given.
func TestIntervalOfFewValues(t *testing.T) {
	for _, n := range []int{1, 60, 367} {
		var d Distribution
		for i := range n {
			d.Add(float64(i + 1))
		}
		if i, known := d.Interval(99); !known || !math.IsInf(i.High, 1) || i.Low > float64(n)*1000 || i.Independent != n {
			t.Errorf("P99 of %d values: %+v", n, i)
		}
		for _, p := range []float64{0, 100} {
			if i, known := d.Interval(p); known {
				t.Errorf("P%g: %+v", p, i)
			}
		}
	}
	if i, known := (&Distribution{quoted: newQuote()}).Interval(50); known {
		t.Errorf("of no value: %+v", i)
	}
}

// A histogram knows ranks, to its three digits, and not which gaps are of one request.
func TestIntervalOfAHistogram(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	exact := lognormal(random, 2000, 1)
	want, _ := exact.Interval(99)
	rough := exact
	rough.drop()
	got, known := rough.Interval(99)
	if !known || math.Abs(got.Low/want.Low-1) > 1e-3 || math.Abs(got.High/want.High-1) > 1e-3 {
		t.Errorf("%+v, want %+v", got, want)
	}
	rough.gaps = true
	if i, known := rough.Interval(99); known {
		t.Errorf("of gaps: %+v", i)
	}
}

// Gaps are told apart by request in a run, in shards put together, and not past the cap.
func TestGapsAreKnownByRequest(t *testing.T) {
	collector := func(cap int) *Collector {
		c := NewCollector(&Header{})
		c.Cap = cap
		for i := range 8 {
			r := &Record{Index: i, Out: 5}
			for j := range 5 {
				r.Chunks.Append(durationMS(float64(10 + i%2*j + 10*j)))
			}
			r.Last, r.End = r.Chunks.Last(), r.Chunks.Last()
			c.Add(r)
		}
		return c
	}
	both := collector(0)
	both.merge(collector(0), 0)
	for name, row := range map[string]struct {
		c           *Collector
		independent int
	}{"a run": {collector(0), 7}, "two shards": {both, 15}, "past the cap": {collector(10), 0}} {
		i, known := row.c.Summary(1).Metric("itl").Interval(50)
		if known != (row.independent > 0) || i.Independent != row.independent {
			t.Errorf("%s: %+v, %t", name, i, known)
		}
	}
}
