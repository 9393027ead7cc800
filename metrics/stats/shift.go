package stats

import (
	"math"
	"slices"
)

// Evidence is what the values of two sides say about the difference between them. All p values are
// of one-sided tests.
type Evidence interface {
	// Above is the p value of the test that the true difference is at most limit, and Below of the
	// test that it is at least limit.
	Above(limit float64) float64
	Below(limit float64) float64
	// Upper and Lower are the ends of the one-sided intervals, which the true difference exceeds with
	// a probability of at most p. They are infinite for too few values.
	Upper(p float64) float64
	Lower(p float64) float64
}

// A Shift is the evidence of two sides of independent values, about whose distribution nothing is
// assumed except that it is the same after a shift: the exact Mann–Whitney test, and its
// interval (M. Hollander and D. Wolfe, "Nonparametric Statistical Methods", 4.2 and 4.3). It keeps
// the slices.
type Shift struct{ Old, New []float64 }

// Value is the Hodges–Lehmann estimate: the median of the differences of all pairs of an old and a
// new value. It is NaN without such a pair.
func (s Shift) Value() float64 {
	all := s.differences()
	if len(all) == 0 {
		return math.NaN()
	}
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// differences are the differences of all pairs, in order.
func (s Shift) differences() (all []float64) {
	for _, a := range s.Old {
		for _, b := range s.New {
			all = append(all, b-a)
		}
	}
	slices.Sort(all)
	return all
}

// Above implements Evidence.
func (s Shift) Above(limit float64) float64 {
	if len(s.Old) == 0 || len(s.New) == 0 {
		return 1
	}
	moved := make([]float64, len(s.New))
	for i, v := range s.New {
		moved[i] = v - limit
	}
	p := mannWhitney(s.Old, moved)
	if lead(s.Old, moved) > 0 {
		return p / 2
	}
	return 1 - p/2
}

// Below implements Evidence.
func (s Shift) Below(limit float64) float64 { return Shift{s.New, s.Old}.Above(-limit) }

// Upper implements Evidence.
func (s Shift) Upper(p float64) float64 {
	all := s.differences()
	drop := -1
	if len(all) > 0 {
		drop = uQuantile(len(s.Old), len(s.New), p)
	}
	if drop < 0 {
		return math.Inf(1)
	}
	return all[len(all)-1-drop]
}

// Lower implements Evidence.
func (s Shift) Lower(p float64) float64 { return -Shift{s.New, s.Old}.Upper(p) }

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

// Agreement is what several pieces of evidence of one difference say in common: the weakest p value and
// the widest interval among them. There is at least one.
type Agreement[E Evidence] []E

// Above implements Evidence.
func (a Agreement[E]) Above(limit float64) float64 {
	return a.most(func(e E) float64 { return e.Above(limit) })
}

// Below implements Evidence.
func (a Agreement[E]) Below(limit float64) float64 {
	return a.most(func(e E) float64 { return e.Below(limit) })
}

// Upper implements Evidence.
func (a Agreement[E]) Upper(p float64) float64 {
	return a.most(func(e E) float64 { return e.Upper(p) })
}

// Lower implements Evidence.
func (a Agreement[E]) Lower(p float64) float64 {
	return -a.most(func(e E) float64 { return -e.Lower(p) })
}

func (a Agreement[E]) most(of func(E) float64) float64 {
	most := math.Inf(-1)
	for _, e := range a {
		most = max(most, of(e))
	}
	return most
}
