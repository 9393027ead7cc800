package metrics

import (
	"math"
	"time"

	"github.com/aclements/go-moremath/mathx"

	"github.com/servebench/servebench/metrics/numpy"
	"github.com/servebench/servebench/metrics/stats"
)

// TailSizes are the numbers of values behind each percentile that the run reports. If a file has
// only the percentiles, a latency that each request has once has as many values as requests
// completed.
func (s *Summary) TailSizes() []stats.TailSize {
	var sizes []stats.TailSize
	for _, m := range Metrics {
		n := m.Of(s).Len()
		if q := m.Of(s).Quoted; n == 0 && q != nil && len(q.Percentiles) > 0 && m.Name != "itl" {
			n = max(s.Completed, 0)
		}
		if !s.Header.Config.Selected(m.Name) || n == 0 {
			continue
		}
		for _, p := range s.Header.Config.Percentiles {
			sizes = append(sizes, stats.TailSize{Metric: m.Name, Percentile: p, N: n})
		}
	}
	return sizes
}

// intervalConfidence is how sure an Interval is.
const intervalConfidence = 0.95

// An Interval holds a percentile with 95 % confidence.
type Interval struct {
	Low, High   float64 // in milliseconds; infinite if the values are too few to bound that side
	Independent int     // number of values that it counts
}

// Interval is the Interval of the p-th percentile, p from 0 to 100. It holds for values that are
// independent of each other, whatever their distribution. Fewer than l of n such values are below
// the percentile, or at least u of them, with the probabilities of the binomial distribution of n
// and p/100 (H. A. David and H. N. Nagaraja, "Order Statistics", 3rd ed., 7.1). So the percentile
// is between the l-th and the u-th value.
//
// Gaps between the chunks of one request are not independent. Of n gaps, only n over the design
// effect count (E. Korn and B. Graubard, "Confidence intervals for proportions with small expected
// number of positive counts estimated from survey data", Survey Methodology 24 (1998)): as many as
// estimate the share of gaps up to the percentile as well as the requests do. The interval ignores
// that requests in flight together share the server's steps.
//
// It is false if the interval is unknown: without values, at 0 and 100, and for gaps without the
// requests that they belong to.
func (d *Distribution) Interval(p float64) (Interval, bool) {
	n := d.exact.independent(p, d.Len())
	if n == 0 || p <= 0 || p >= 100 {
		return Interval{}, false
	}
	low, high := stats.BinomialRanks(n, p/100, 1-intervalConfidence)
	// of is the rank among all values.
	of := func(rank, up int) int { return int((int64(rank)*int64(d.Len()) + int64(up)) / int64(n)) }
	i := Interval{math.Inf(-1), math.Inf(1), n}
	if low >= 1 {
		i.Low = d.ranked(of(low-1, 0) + 1)
	}
	if high <= n {
		i.High = d.ranked(of(high, n-1))
	}
	return i, true
}

// ranked is the k-th smallest value in milliseconds, k from 1.
func (d *Distribution) ranked(k int) float64 {
	if len(d.exact.values) > 0 {
		return d.exact.ascending()[k-1] * 1000
	}
	return float64(d.hist.ValueAtPercentile(float64(k)/float64(d.Len())*100)) / float64(time.Millisecond)
}

// An Endless is a latency in which failed requests count as infinite values after all others. A
// server that refuses slow requests would have a better percentile in the Distribution; here it
// does not.
type Endless struct {
	ended  *Distribution
	failed int
}

// Endless is d with that many infinite values added. It keeps changing with d.
func (d *Distribution) Endless(failed int) Endless { return Endless{d, failed} }

// count is the number of values, including the infinite ones.
func (e Endless) count() int { return e.ended.Len() + e.failed }

// Mean is the mean in milliseconds; a single infinite value makes it infinite.
func (e Endless) Mean() float64 {
	if e.failed > 0 {
		return math.Inf(1)
	}
	return e.ended.Mean()
}

// Median is the median in milliseconds as numpy.median computes it: infinite if one of the two
// values in the middle is.
func (e Endless) Median() float64 {
	n, sorted := e.count(), e.ended.exact.ascending()
	switch {
	case e.failed == 0:
		return e.ended.Median()
	case len(sorted) == 0:
		return e.Percentile(50)
	case n/2 >= len(sorted):
		return math.Inf(1)
	}
	return numpy.Mean(sorted[(n-1)/2:n/2+1]) * 1000
}

// Percentile is the p-th percentile in milliseconds, p from 0 to 100. It interpolates linearly at
// rank p/100·(n−1) as numpy.percentile does. Where numpy's arithmetic with infinity gives nan, it
// differs: a rank that falls on a value is that value, and between a finite and an infinite value
// it is infinite.
func (e Endless) Percentile(p float64) float64 {
	if e.failed == 0 {
		return e.ended.Percentile(p)
	}
	// The nearest rank to p, if only the last digits of p/100 separate them.
	const rounding = 1e-7
	rank := p / 100 * float64(e.count()-1)
	if nearest := math.Round(rank); math.Abs(rank-nearest) < rounding {
		rank = nearest
	}
	if rank > float64(e.ended.Len()-1) {
		return math.Inf(1)
	}
	if sorted := e.ended.exact.ascending(); len(sorted) > 0 {
		return numpy.AtRank(sorted, rank) * 1000
	}
	return countedAtRank(e.ended.hist, rank) / float64(time.Millisecond)
}

// Resampled counts at most mostResampled independent values, of which the weights are within half a
// percent of all values around the percentile. It computes about mostWeights of them: neighbours share one.
const (
	mostResampled = 10_000
	mostWeights   = 500
)

// Resampled is the p-th percentile in milliseconds, p above 0 and below 100, as the mean over all ways to
// draw as many values again from the values: a weighted mean of the values near the percentile. It
// varies less from run to run than Percentile (F. Harrell and C. Davis, "A new distribution-free quantile
// estimator", Biometrika 69 (1982)). Of gaps between chunks it draws as many as an Interval counts. It is
// NaN without exact values.
func (d *Distribution) Resampled(p float64) float64 {
	n := len(d.exact.values)
	m := float64(min(d.exact.independent(p, d.Len()), mostResampled))
	if n == 0 || m == 0 || p <= 0 || p >= 100 {
		return math.NaN()
	}
	a, b := (m+1)*p/100, (m+1)*(1-p/100)
	// Outside of ten standard deviations, a float64 cannot hold a weight.
	reach := 10*math.Sqrt(a*b/(m+2))/(m+1) + 10/m
	from, to := int(max(0, p/100-reach)*float64(n)), int(math.Ceil(min(1, p/100+reach)*float64(n)))
	values := d.exact.ascending()
	step := 1 + (to-from)/mostWeights
	sum, before := 0.0, mathx.BetaInc(float64(from)/float64(n), a, b)
	first := before
	for i := from; i < to; i += step {
		alike := values[i:min(i+step, to)]
		below := mathx.BetaInc(float64(i+len(alike))/float64(n), a, b)
		sum += (below - before) * numpy.Mean(alike)
		before = below
	}
	return sum / (before - first) * 1000
}
