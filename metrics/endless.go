package metrics

import (
	"math"
	"time"
)

// An Endless is a latency of requests of which some never ended: those that
// failed, as infinite values behind all others. A server that refuses what would
// take long has a better percentile in the Distribution, and none here.
type Endless struct {
	ended  *Distribution
	failed int
}

// Endless is d with so many infinite values more. It goes on changing with d.
func (d *Distribution) Endless(failed int) Endless { return Endless{d, failed} }

// Len is how many values there are, the infinite ones among them.
func (e Endless) Len() int { return e.ended.Len() + e.failed }

// Mean is the mean in milliseconds, infinite with a single infinite value.
func (e Endless) Mean() float64 {
	if e.failed > 0 {
		return math.Inf(1)
	}
	return e.ended.Mean()
}

// Median is the median in milliseconds as numpy.median computes it: infinite as
// soon as one of the two values in the middle is.
func (e Endless) Median() float64 {
	n, sorted := e.Len(), e.ended.ascending()
	switch {
	case e.failed == 0:
		return e.ended.Median()
	case len(sorted) == 0:
		return e.Percentile(50)
	case n/2 >= len(sorted):
		return math.Inf(1)
	}
	return Mean(sorted[(n-1)/2:n/2+1]) * 1000
}

// Percentile is the p-th percentile in milliseconds, p from 0 to 100. It
// interpolates linearly at rank p/100·(n−1) as numpy.percentile does, but where
// numpy's arithmetic with infinity gives nan: a rank that falls on a value is that
// value, and between a finite and an infinite one it is infinite.
func (e Endless) Percentile(p float64) float64 {
	if e.failed == 0 {
		return e.ended.Percentile(p)
	}
	// The nearest rank to p, if it is off that only by the last digits of p/100.
	const rounding = 1e-7
	rank := p / 100 * float64(e.Len()-1)
	if nearest := math.Round(rank); math.Abs(rank-nearest) < rounding {
		rank = nearest
	}
	if rank > float64(e.ended.Len()-1) {
		return math.Inf(1)
	}
	if sorted := e.ended.ascending(); len(sorted) > 0 {
		return atRank(sorted, rank) * 1000
	}
	return countedAtRank(e.ended.hist, rank) / float64(time.Millisecond)
}
