package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/servebench/servebench/metrics/numpy"
)

// Sorting in place must not change a digit. Gaps keep the order of their requests, which Interval
// needs.
func TestSettlingChangesNoStatistic(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var s Summary
	for i := range 5000 {
		s.TTFT.Add(random.ExpFloat64())
		s.ITL.Add(random.ExpFloat64() / 100)
		if i%10 == 9 {
			s.ITL.exact.ends = append(s.ITL.exact.ends, i+1)
		}
	}
	s.ITL.exact.gaps = true
	statistics := func() (all []float64) {
		for _, d := range s.latencies() {
			interval, _ := d.Interval(99)
			all = append(all, d.Mean(), d.Std(), d.Median(), d.Percentile(99.9), interval.Low, interval.High, float64(interval.Independent))
		}
		slices.Sort(all)
		return all
	}
	gaps, ends, copied := slices.Clone(s.ITL.exact.values), new(endTimes), new(Summary)
	copied.Give(endKind, ends)
	for _, v := range s.TTFT.exact.values {
		ends.ends.Add(v)
	}
	want := statistics()
	for range 2 {
		s.Settle()
		if got := statistics(); !slices.Equal(got, want) {
			t.Errorf("settled %v\nwant %v", got, want)
		}
	}
	if !slices.Equal(s.ITL.exact.values, gaps) {
		t.Error("the gaps are in another order")
	}
	copied.Settle()
	if d := &ends.ends; !slices.Equal(d.exact.values, s.TTFT.exact.values) || &d.exact.values[0] != &d.exact.sorted[0] || d.Mean() != s.TTFT.Mean() {
		t.Error("a latency of an aspect was not sorted in place")
	}
}

// The standard deviation adds up in the order of numpy, whatever the number of values.
func TestStdAddsAsSumDoes(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 7, 8, 128, 129, 1000, 4099} {
		values, differences := make([]float64, n), make([]float64, n)
		for i := range values {
			values[i] = random.NormFloat64()
		}
		mean := numpy.Mean(values)
		for i, v := range values {
			differences[i] = (v - mean) * (v - mean)
		}
		if got, want := numpy.Std(values), math.Sqrt(numpy.Mean(differences)); got != want {
			t.Errorf("of %d values %v, want %v", n, got, want)
		}
	}
}
