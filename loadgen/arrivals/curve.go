package arrivals

import (
	"math"
	"sort"
	"time"

	"github.com/servebench/servebench/dataset"
)

// A Curve is a request rate over time, in straight legs or as a sine. ParseCurve makes it; it is
// read-only.
//
// Time rescaling turns it into due times: gaps of mean 1 are laid end to end, and each end is
// mapped through the inverse of the rate's integral. Exponential gaps give the inhomogeneous
// Poisson process of that rate (Cox and Lewis, The Statistical Analysis of Series of Events, 1966,
// section 2.4; Çinlar's inversion). With even gaps, the n-th request is due when the integral
// reaches n.
type Curve struct {
	spec string
	legs []leg   // one after the other from 0 on; empty for a sine
	all  float64 // requests until they end
	last float64 // the rate after that
	sine *sine
}

// A leg is a rate that changes linearly, in requests a second and seconds.
type leg struct {
	from, to   float64
	start, end float64 // the rate at both ends
	before     float64 // requests before it begins
}

func (l *leg) requests() float64 { return (l.start + l.end) / 2 * (l.to - l.from) }

// slope is the growth of the rate in a second.
func (l *leg) slope() float64 { return (l.end - l.start) / (l.to - l.from) }

// A sine is a rate that begins at its mean and rises.
type sine struct{ mean, amplitude, period float64 }

// String is the curve in the syntax of ParseCurve.
func (c *Curve) String() string { return c.spec }

// End is when the curve ends; 0 for a sine, which does not end. After its end, a curve keeps its
// last rate.
func (c *Curve) End() time.Duration {
	if c.sine != nil {
		return 0
	}
	return dataset.Seconds(c.legs[len(c.legs)-1].to)
}

// Beginning is the rate at the start, in requests a second. If that is 0, it is the mean rate of
// the first leg that sends anything.
func (c *Curve) Beginning() float64 {
	if c.sine != nil {
		return c.sine.mean
	}
	if start := c.legs[0].start; start > 0 {
		return start
	}
	for i := range c.legs {
		if l := &c.legs[i]; l.requests() > 0 {
			return l.requests() / (l.to - l.from)
		}
	}
	return c.last
}

// requests is the integral of the rate up to a time in seconds.
func (c *Curve) requests(at float64) float64 {
	if c.sine != nil {
		return c.sine.requests(at)
	}
	l := c.leg(func(l *leg) bool { return l.from > at })
	if end := c.legs[len(c.legs)-1].to; at > end {
		return c.all + float64(c.last*(at-end))
	}
	t := at - l.from
	return l.before + float64(t*(l.start+float64(l.slope()*t/2)))
}

// when is the first time at which the integral reaches n, in seconds; +Inf if it
// never does.
func (c *Curve) when(n float64) float64 {
	if n == 0 {
		return 0
	}
	if c.sine != nil {
		return c.sine.when(n)
	}
	if n > c.all {
		return c.legs[len(c.legs)-1].to + (n-c.all)/c.last
	}
	l := c.leg(func(l *leg) bool { return l.before >= n })
	left := n - l.before
	// The root of start·t + slope·t²/2 = left, in a form that works for any slope, including 0.
	root := math.Sqrt(max(0, float64(l.start*l.start)+float64(2*l.slope()*left)))
	return min(l.to, l.from+2*left/(l.start+root))
}

// leg is the leg before the first one for which past is true.
func (c *Curve) leg(past func(*leg) bool) *leg {
	i := sort.Search(len(c.legs), func(i int) bool { return past(&c.legs[i]) })
	return &c.legs[max(0, i-1)]
}

func (s *sine) requests(at float64) float64 {
	turns := 2 * math.Pi / s.period
	return float64(s.mean*at) + float64(s.amplitude/turns*(1-math.Cos(turns*at)))
}

// when bisects to less than a nanosecond. A sine sends at least as many requests as its mean rate
// would, and at most half a period's more.
func (s *sine) when(n float64) float64 {
	late := n / s.mean
	early := max(0, late-s.amplitude*s.period/(math.Pi*s.mean))
	for late-early > 1e-10 {
		middle := early + (late-early)/2
		if middle == early || middle == late {
			break
		}
		if s.requests(middle) < n {
			early = middle
		} else {
			late = middle
		}
	}
	return late
}
