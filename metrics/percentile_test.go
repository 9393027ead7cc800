package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/stats"
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
		if low, high := stats.BinomialRanks(row.n, row.p/100, 0.05); low != row.low || high != row.high {
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
		d.exact.ends = append(d.exact.ends, d.Len())
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
					d.exact.gaps = gaps
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
	if i, known := (&Distribution{Quoted: NewQuote()}).Interval(50); known {
		t.Errorf("of no value: %+v", i)
	}
}

// A histogram knows ranks, to its three digits, and not which gaps are of one request.
func TestIntervalOfAHistogram(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	exact := lognormal(random, 2000, 1)
	want, _ := exact.Interval(99)
	rough := exact
	rough.Drop()
	got, known := rough.Interval(99)
	if !known || math.Abs(got.Low/want.Low-1) > 1e-3 || math.Abs(got.High/want.High-1) > 1e-3 {
		t.Errorf("%+v, want %+v", got, want)
	}
	rough.exact.gaps = true
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
			r := &record.Record{Index: i, Tokens: record.Tokens{Out: 5}}
			for j := range 5 {
				r.Answer.Chunks.Append(durationMS(float64(10 + i%2*j + 10*j)))
			}
			r.Times.Last, r.Times.End = r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
			c.Add(r)
		}
		return c
	}
	both := collector(0)
	both.Merge(collector(0), 0)
	for name, row := range map[string]struct {
		c           *Collector
		independent int
	}{"a run": {collector(0), 7}, "two shards": {both, 15}, "past the cap": {collector(10), 0}} {
		i, known := row.c.Summary(1).Latency("itl").Interval(50)
		if known != (row.independent > 0) || i.Independent != row.independent {
			t.Errorf("%s: %+v, %t", name, i, known)
		}
	}
}

var inf = math.Inf(1)

// squares are n values of 1, 4, 9 … ms.
func squares(n, most int) Distribution {
	d := Distribution{limit: most}
	for i := 1; i <= n; i++ {
		d.Add(float64(i*i) / 1000)
	}
	return d
}

// Wanted is what numpy 2.4.6 makes of the values with infinite ones behind: 1e300
// in the place of infinity, since its percentile is nan where it multiplies 0 by
// that, and all above 1e200 is infinite.
func TestFailuresAreInfiniteAsInNumpy(t *testing.T) {
	percentiles := []float64{0, 25, 50, 90, 95, 99, 100}
	for _, c := range []struct {
		n, failed   int
		median      float64
		percentiles []float64
	}{
		{1, 1, inf, []float64{1.0, inf, inf, inf, inf, inf, inf}},
		{2, 1, 4.0, []float64{1.0, 2.5, 4.0, inf, inf, inf, inf}},
		{5, 1, 12.5, []float64{1.0, 5.249999999999999, 12.5, inf, inf, inf, inf}},
		{5, 5, inf, []float64{1.0, 10.75, inf, inf, inf, inf, inf}},
		{7, 3, 30.5, []float64{1.0, 10.75, 30.5, inf, inf, inf, inf}},
		{19, 1, 110.5, []float64{1.0, 33.25, 110.5, 327.70000000000005, inf, inf, inf}},
		{99, 2, 2601.0, []float64{1.0, 676.0, 2601.0, 8281.0, 9216.0, inf, inf}},
		{100, 1, 2601.0, []float64{1.0, 676.0, 2601.0, 8281.0, 9216.0, 10000.0, inf}},
		{3, 9, inf, []float64{1.0, inf, inf, inf, inf, inf, inf}},
	} {
		d := squares(c.n, 0)
		e := d.Endless(c.failed)
		if e.count() != c.n+c.failed || e.Mean() != inf || e.Median() != c.median {
			t.Errorf("%d and %d failed: %d values, mean %v, median %v; want infinity and %v", c.n, c.failed, e.count(), e.Mean(), e.Median(), c.median)
		}
		for i, p := range percentiles {
			if got := e.Percentile(p); got != c.percentiles[i] {
				t.Errorf("%d and %d failed: P%v %v, want %v", c.n, c.failed, p, got, c.percentiles[i])
			}
		}
	}
}

// 99.9/100·1000 is 999.0000000000001.
func TestDigitsOfARankMakeNoValueInfinite(t *testing.T) {
	d := squares(1000, 0)
	if got := d.Endless(1).Percentile(99.9); got != 1e6 {
		t.Errorf("P99.9 of 1001 is %v, want the last of 1000", got)
	}
}

func TestWithoutFailuresNothingIsInfinite(t *testing.T) {
	d := squares(10, 0)
	if e := d.Endless(0); e.Mean() != d.Mean() || e.Median() != d.Median() || e.Percentile(99) != d.Percentile(99) {
		t.Errorf("mean %v, median %v, P99 %v", e.Mean(), e.Median(), e.Percentile(99))
	}
}

func TestWhereAllFailedAllIsInfinite(t *testing.T) {
	var d Distribution
	if e := d.Endless(3); e.count() != 3 || e.Mean() != inf || e.Median() != inf || e.Percentile(0) != inf {
		t.Errorf("%d values, mean %v, median %v, P0 %v", e.count(), e.Mean(), e.Median(), e.Percentile(0))
	}
}

func TestAHistogramKnowsWhatIsInfiniteAsExactValuesDo(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	for n := 2; n < 150; n += 7 {
		for failed := 1; failed < 150; failed += 11 {
			exact, counted := squares(n, 0), squares(n, 1)
			want, got := exact.Endless(failed), counted.Endless(failed)
			if !counted.Approximate() || !nearby(got.Median(), want.Median()) {
				t.Fatalf("%d and %d: median %v, want %v", n, failed, got.Median(), want.Median())
			}
			for _, p := range []float64{0, 10, 50, 90, 99, 99.9, 100} {
				if got, want := got.Percentile(p), want.Percentile(p); !nearby(got, want) {
					t.Errorf("%d and %d failed: P%v %v, want %v", n, failed, p, got, want)
				}
			}
		}
	}
}

// nearby says that got is want as well as a histogram of three digits can tell.
func nearby(got, want float64) bool {
	return got == want || math.Abs(got-want) <= want/1000
}

// of is a Distribution of values in seconds.
func of(values ...float64) *Distribution {
	d := new(Distribution)
	for _, v := range values {
		d.Add(v)
	}
	return d
}

// From mpmath 1.3.0: the values, weighted by the differences of betainc((n+1)·p, (n+1)·(1−p), 0, i/n,
// regularized=True).
func TestResampledPercentilesAreHarrellAndDavis(t *testing.T) {
	few := of(.031, .052, .018, .044, .120, .027, .039, .061, .035, .048)
	many := new(Distribution)
	for i := range 1000 {
		many.Add(math.Pow(float64(i*7919%1000), 2) / 1e6)
	}
	for _, c := range []struct {
		of      *Distribution
		p, want float64
	}{
		{few, 25, 30.526314838469894}, {few, 50, 41.601047724353634}, {few, 90, 95.50777887032189}, {few, 99, 118.61296875567264},
		{many, 50, 249.74983433133727}, {many, 90, 809.190153692615}, {many, 99, 979.1202135673403},
	} {
		if got := c.of.Resampled(c.p); math.Abs(got/c.want-1) > 1e-9 {
			t.Errorf("P%g of %d: %v, want %v", c.p, c.of.Len(), got, c.want)
		}
	}
}

// Of values that are evenly spread, it is the mean of the beta distribution.
func TestResampledPercentilesOfMillionsOfValues(t *testing.T) {
	d := &Distribution{limit: 2_000_000}
	const n = 1_000_000
	for i := range n {
		d.Add((float64(i) + 0.5) / n)
	}
	for _, p := range []float64{0.1, 1, 50, 90, 99, 99.9} {
		if got := d.Resampled(p); math.Abs(got-10*p) > 1e-3 {
			t.Errorf("P%g is %v", p, got)
		}
	}
}

// Of gaps that are alike within each request, only the requests count.
func TestGapsAreResampledByRequest(t *testing.T) {
	requests, gaps := new(Distribution), &Distribution{exact: exact{gaps: true}}
	for i := range 20 {
		v := float64(i*i) / 1000
		requests.Add(v)
		for range 50 {
			gaps.Add(v)
		}
		gaps.exact.ends = append(gaps.exact.ends, len(gaps.exact.values))
	}
	if got, want := gaps.Resampled(50), requests.Resampled(50); math.Abs(got/want-1) > 0.01 {
		t.Errorf("%v, of requests %v", got, want)
	}
	if all := of(gaps.exact.values...).Resampled(50); math.Abs(all/gaps.Resampled(50)-1) < 0.01 {
		t.Errorf("%v if each gap counts", all)
	}
}

func TestWithoutValuesNothingIsResampled(t *testing.T) {
	q, rough := &Distribution{Quoted: NewQuote()}, FromHistogram(of(1, 2).Histogram())
	for name, got := range map[string]float64{
		"no values": new(Distribution).Resampled(50), "statistics": q.Resampled(50), "P0": of(1, 2).Resampled(0), "P100": of(1, 2).Resampled(100),
		"a histogram": rough.Resampled(50),
	} {
		if !math.IsNaN(got) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A value that d does not have leaves the others in their places.
func TestInsteadPassesOverUnknownValues(t *testing.T) {
	of := func(values ...float64) *Distribution {
		var d Distribution
		for _, v := range values {
			d.Add(v)
		}
		return &d
	}
	got := of(1, 2, 3, 4).Instead(of(0.5, 2, 2.5, 4), of(7, 8))
	if want := []float64{1, 3, 7, 8}; !slices.Equal(got.exact.ascending(), want) {
		t.Errorf("%v, want %v", got.exact.ascending(), want)
	}
}
