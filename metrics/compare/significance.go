package compare

import (
	"math"
	"slices"
	"sort"

	"golang.org/x/perf/benchmath"
)

// holm are the p values of several tests, adjusted so that the chance of a single
// false alarm among them stays what it is for one: S. Holm, "A simple sequentially
// rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).
func holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return p[order[a]] < p[order[b]] })
	adjusted, least := make([]float64, len(p)), 0.0
	for rank, i := range order {
		least = max(least, min(1, p[i]*float64(len(p)-rank)))
		adjusted[i] = least
	}
	return adjusted
}

// RunsNeeded is how many runs a side it takes at least for a Mann–Whitney test to
// find a difference at the level alpha, when it is one of so many tests that share
// it: the least n with 2 / C(2n, n) ≤ alpha / tests.
func RunsNeeded(alpha float64, tests int) int {
	n, ways := 1, 2.0
	for 2/ways > alpha/float64(max(tests, 1)) {
		n++
		ways = ways * float64(2*n) * float64(2*n-1) / float64(n*n)
	}
	return n
}

// mannWhitney is the p value of the two-sided test that old and new come from one
// distribution.
func mannWhitney(old, new []float64) float64 {
	sample := func(values []float64) *benchmath.Sample {
		return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	}
	return benchmath.AssumeNothing.Compare(sample(old), sample(new)).P
}

// shift is how much larger new is than old, as a ratio less one, with the bounds
// between which that lies with the confidence given: the Hodges–Lehmann estimate,
// which is the median of the ratios of all pairs, and the interval that goes with
// the Mann–Whitney test (M. Hollander and D. Wolfe, "Nonparametric Statistical
// Methods", 4.2 and 4.3), on logarithms. Values must be above 0. With too few runs
// for the confidence the bounds are infinite.
func shift(old, new []float64, confidence float64) (estimate, low, high float64) {
	var ratios []float64
	for _, a := range old {
		for _, b := range new {
			ratios = append(ratios, math.Log(b/a))
		}
	}
	slices.Sort(ratios)
	n := len(ratios)
	estimate = math.Expm1((ratios[(n-1)/2] + ratios[n/2]) / 2)
	drop := uQuantile(len(old), len(new), (1-confidence)/2)
	if drop < 0 {
		return estimate, math.Inf(-1), math.Inf(1)
	}
	return estimate, math.Expm1(ratios[drop]), math.Expm1(ratios[n-1-drop])
}

// uQuantile is the largest u for which the chance that the Mann–Whitney statistic
// of m and n values is at most u does not exceed p; -1 when there is none.
func uQuantile(m, n int, p float64) int {
	counts := uCounts(m, n)
	total := 0.0
	for _, c := range counts {
		total += c
	}
	sum := 0.0
	for u, c := range counts {
		if sum += c; sum > p*total {
			return u - 1
		}
	}
	return len(counts) - 1
}

// uCounts are the numbers of orders of m and n values that have the statistic 0,
// 1, … m·n: the coefficients of the Gaussian binomial.
func uCounts(m, n int) []float64 {
	counts := make([]float64, m*n+1)
	counts[0] = 1
	for i := 1; i <= m; i++ {
		for u := len(counts) - 1; u >= n+i; u-- { // times 1 − q^(n+i)
			counts[u] -= counts[u-n-i]
		}
		for u := i; u < len(counts); u++ { // over 1 − q^i
			counts[u] += counts[u-i]
		}
	}
	return counts
}
