package metrics

import (
	"math"
	"testing"
)

var inf = math.Inf(1)

// squares are n values of 1, 4, 9 … ms.
func squares(n, most int) Distribution {
	d := Distribution{Cap: most}
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
		if e.Len() != c.n+c.failed || e.Mean() != inf || e.Median() != c.median {
			t.Errorf("%d and %d failed: %d values, mean %v, median %v; want infinity and %v", c.n, c.failed, e.Len(), e.Mean(), e.Median(), c.median)
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
	if e := d.Endless(3); e.Len() != 3 || e.Mean() != inf || e.Median() != inf || e.Percentile(0) != inf {
		t.Errorf("%d values, mean %v, median %v, P0 %v", e.Len(), e.Mean(), e.Median(), e.Percentile(0))
	}
}

func TestAHistogramKnowsWhatIsInfiniteAsExactValuesDo(t *testing.T) {
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
