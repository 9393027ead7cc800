package stats

import (
	"cmp"
	"slices"
	"sort"

	"golang.org/x/perf/benchmath"
)

// confidenceLevel is the confidence of the interval of a Median.
const confidenceLevel = 0.95

// sample is a copy of values for benchmath.
func sample(values []float64) *benchmath.Sample {
	thresholds := benchmath.DefaultThresholds
	return benchmath.NewSample(slices.Clone(values), &thresholds)
}

// Median is the median of values with its 95 % confidence interval.
func Median(values []float64) benchmath.Summary {
	return benchmath.AssumeNothing.Summary(sample(values), confidenceLevel)
}

// mannWhitney is the p value of the two-sided test that old and new come from one
// distribution: twice the p value of the tail in which they lie.
func mannWhitney(old, new []float64) float64 {
	// Ties make the distribution of U asymmetric, and benchmath uses its lower tail.
	if lead(old, new) < 0 {
		old, new = new, old
	}
	return min(1, benchmath.AssumeNothing.Compare(sample(old), sample(new)).P)
}

// lead is how many more pairs have the larger value in new than in old.
func lead(old, new []float64) int {
	n := 0
	for _, a := range old {
		for _, b := range new {
			n += cmp.Compare(b, a)
		}
	}
	return n
}

// Holm are the p values of some of so many tests, adjusted so that the chance of a
// single false alarm among all stays what it is for one: S. Holm, "A simple
// sequentially rejective multiple test procedure", Scandinavian Journal of
// Statistics 6 (1979). Tests whose p is not known count as ones that reject nothing.
func Holm(p []float64, tests int) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return p[order[a]] < p[order[b]] })
	adjusted, least := make([]float64, len(p)), 0.0
	for rank, i := range order {
		least = max(least, min(1, p[i]*float64(tests-rank)))
		adjusted[i] = least
	}
	return adjusted
}

// Needed is the least number of values a side with which a one-sided Mann–Whitney test can find a
// difference at the level alpha, if it is one of so many tests that share it. alpha must be above
// 0.
func Needed(alpha float64, tests int) int {
	n := 1
	for LeastP(n, n) > alpha/float64(max(tests, 1)) {
		n++
	}
	return n
}

// LeastP is the least p value that a one-sided Mann–Whitney test of m and n values
// can have: 1 / C(m+n, n).
func LeastP(m, n int) float64 {
	p := 1.0
	for i := 1; i <= n; i++ {
		p *= float64(i) / float64(m+i)
	}
	return p
}
