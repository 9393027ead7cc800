package compare

import (
	"math"
	"slices"

	"github.com/servebench/servebench/metrics"
)

// An Effect is how much larger the numbers of new runs are than the old numbers, as a
// share: the Hodges–Lehmann estimate, which is the median over all pairs of an old and a
// new run, and the interval of the Mann–Whitney test (M. Hollander and D. Wolfe,
// "Nonparametric Statistical Methods", 4.2 and 4.3). It compares logarithms, or, where a
// number is not above 0, differences over the old median.
type Effect struct {
	Share     float64
	Low, High float64 // with 95 % confidence; infinite where runs are too few
}

func effect(old, new []float64) Effect {
	of, back := math.Log, math.Expm1
	if !positive(old) || !positive(new) {
		center := math.Abs(median(old).Center)
		of = func(v float64) float64 { return v }
		back = func(difference float64) float64 {
			if difference == 0 {
				return 0
			}
			return difference / center
		}
	}
	share, low, high := shift(each(old, of), each(new, of), confidenceLevel)
	if math.IsInf(low, 0) {
		return Effect{back(share), low, high}
	}
	return Effect{back(share), back(low), back(high)}
}

func positive(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return !(v > 0) })
}

func each(values []float64, of func(float64) float64) []float64 {
	mapped := make([]float64, len(values))
	for i, v := range values {
		mapped[i] = of(v)
	}
	return mapped
}

// shift is the Hodges–Lehmann estimate of how much larger new is than old, with its
// confidence interval.
func shift(old, new []float64, confidence float64) (estimate, low, high float64) {
	var pairs []float64
	for _, a := range old {
		for _, b := range new {
			pairs = append(pairs, b-a)
		}
	}
	slices.Sort(pairs)
	n := len(pairs)
	estimate = metrics.Median(pairs)
	drop := uQuantile(len(old), len(new), (1-confidence)/2)
	if drop < 0 {
		return estimate, math.Inf(-1), math.Inf(1)
	}
	return estimate, pairs[drop], pairs[n-1-drop]
}

// exactLimit is the largest number of values for which uQuantile counts orders: up to
// there a float64 holds the counts exactly.
const exactLimit = 50

// uQuantile is the largest u such that the Mann–Whitney statistic of m and n values is
// at most u with a probability of at most p, which is below a half. It is -1 when there
// is none. Past exactLimit it comes from the normal distribution with the
// statistic's mean and variance.
func uQuantile(m, n int, p float64) int {
	if m+n > exactLimit {
		mean, variance := float64(m*n)/2, float64(m*n*(m+n+1))/12
		z := math.Sqrt2 * math.Erfinv(2*p-1)
		return int(math.Floor(mean + z*math.Sqrt(variance) - 0.5))
	}
	counts := uCounts(m, n)
	total := 0.0
	for _, c := range counts {
		total += c
	}
	sum, u := 0.0, 0
	for sum+counts[u] <= p*total {
		sum += counts[u]
		u++
	}
	return u - 1
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
