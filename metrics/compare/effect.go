package compare

import (
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// An Effect is the ratio of new to old numbers, minus one: −0.2 if new numbers are 20 %
// smaller. It is the Hodges–Lehmann estimate, which is the median of the ratio over all
// pairs of an old and a new run, with the interval of the Mann–Whitney test (M. Hollander
// and D. Wolfe, "Nonparametric Statistical Methods", 4.2 and 4.3, on logarithms). A number
// cannot fall by more than all of it, so Share is at least −1, and so is a known Low.
//
// A 0 among the old numbers makes High infinite, or all three. They are NaN where a number
// is below 0, which has no ratio.
type Effect struct {
	Share     float64
	Low, High float64 // with 95 % confidence; −Inf and +Inf where the runs are too few
}

// Bounded says that the runs are enough for an interval.
func (e *Effect) Bounded() bool { return e.Low >= -1 }

// Interval is the interval in words, its ends written by percent, such as Percent. It is
// empty where the runs are too few, and has no upper end where an old number is 0.
func (e *Effect) Interval(percent func(share float64) string) string {
	switch {
	case !e.Bounded(), math.IsInf(e.Low, 1):
		return ""
	case math.IsInf(e.High, 1):
		return "≥ " + percent(e.Low)
	}
	return strings.TrimSuffix(percent(e.Low), " %") + " … " + percent(e.High)
}

func effect(old, new []float64) Effect {
	unknown := math.NaN()
	if slices.Min(old) < 0 || slices.Min(new) < 0 {
		return Effect{unknown, unknown, unknown}
	}
	share, low, high := growth(old, new, confidenceLevel)
	if low > high {
		return Effect{math.Expm1(share), math.Inf(-1), math.Inf(1)}
	}
	return Effect{math.Expm1(share), math.Expm1(low), math.Expm1(high)}
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

// growth is the Hodges–Lehmann estimate of the logarithm of new over old, with its
// confidence interval. Low is above high where the values are too few for one.
func growth(old, new []float64, confidence float64) (estimate, low, high float64) {
	var pairs []float64
	for _, a := range old {
		for _, b := range new {
			pairs = append(pairs, logRatio(a, b))
		}
	}
	slices.Sort(pairs)
	n := len(pairs)
	estimate = metrics.Median(pairs)
	drop := uQuantile(len(old), len(new), (1-confidence)/2)
	if drop < 0 {
		return estimate, math.Inf(1), math.Inf(-1)
	}
	return estimate, pairs[drop], pairs[n-1-drop]
}

// logRatio is the logarithm of new over old: infinite where one of them is 0, and 0 where
// both are, since they do not differ.
func logRatio(old, new float64) float64 {
	if old == new {
		return 0
	}
	return math.Log(new) - math.Log(old)
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
