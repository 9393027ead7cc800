package sequential

import (
	"math"
	"slices"
	"sync"
)

// A boundary has the levels of one-sided t tests that look at growing numbers of pairs. With no true
// difference, the chance that any of the tests rejects is the alpha of the boundary, where
// differences of pairs are independent and normal. Nobody changes it after it is made.
type boundary struct {
	looks  []int     // numbers of pairs
	levels []float64 // of the test at each look
	limits []float64 // of t
}

// A boundaryFor says what a boundary is made for.
type boundaryFor struct {
	alpha       float64
	first, most int
}

// boundaries keeps each boundary that was made, by its boundaryFor: a comparison makes the same ones after
// each pair, and each takes many integrals.
var boundaries sync.Map

// newBoundary makes a boundary with a look after each pair, from the first number of pairs, at least
// 2, to the most.
func newBoundary(alpha float64, first, most int) *boundary {
	asked := boundaryFor{alpha, first, most}
	if b, found := boundaries.Load(asked); found {
		return b.(*boundary)
	}
	var looks []int
	var spent []float64
	for n := first; n <= most; n++ {
		looks, spent = append(looks, n), append(spent, spend(alpha, float64(n)/float64(most)))
	}
	b := spending(looks, spent)
	boundaries.Store(asked, b)
	return b
}

// level is the level of the test of so many pairs; 0 if there is no look.
func (b *boundary) level(pairs int) float64 {
	if i, found := slices.BinarySearch(b.looks, pairs); found {
		return b.levels[i]
	}
	return 0
}

// limit is the t from which the test of so many pairs rejects; +Inf if there is no look.
func (b *boundary) limit(pairs int) float64 {
	if i, found := slices.BinarySearch(b.looks, pairs); found {
		return b.limits[i]
	}
	return math.Inf(1)
}

// spending spends so much error up to each look.
//
// The tests are exact: they need no large numbers and no known variance. Take the angle φ
// by which the vector of all differences so far rises from the plane in which they add up to 0: t is
// tan φ·√(n−1). Given the sum and the sum of squares of n differences, the vector is uniform on a sphere,
// whatever the true mean and variance are. So the chance that no earlier look has stopped depends on φ alone,
// and follows from the chance one pair before by integration over where the last difference lies. It
// is the recursion of Armitage, McPherson and Rowe ("Repeated Significance Tests on Accumulating
// Data", Journal of the Royal Statistical Society A 132 (1969)) for an unknown variance (C. Jennison and B.
// Turnbull, "Exact Calculations for Sequential t, χ² and F Tests", Biometrika 78 (1991)).
func spending(looks []int, spent []float64) *boundary {
	b := &boundary{looks: looks}
	used := 0.0
	at := angles{stop: math.Pi / 2}
	for n := 2; len(b.levels) < len(looks); n++ {
		at = at.after(n)
		if i := len(b.levels); n == looks[i] {
			at.stop = at.from(spent[i] - used)
			used = spent[i]
			b.levels = append(b.levels, at.tail(at.stop, false))
			b.limits = append(b.limits, math.Tan(at.stop)*math.Sqrt(float64(n-1)))
		}
	}
	return b
}

// angles says how likely it is that no look before n pairs has stopped, by the angle after n pairs.
type angles struct {
	n     int
	peak  float64   // density of the angle 0
	going []float64 // at angles that are evenly spaced from −wide to wide; nil for 1 everywhere
	wide  float64   // hardly an angle is wider
	stop  float64   // the look at n pairs stops from there on
}

// points is how many angles are looked at.
const points = 401

// widest is how wide hardly an angle is in n dimensions: 10 standard deviations.
func widest(n int) float64 { return min(math.Pi/2, 10/math.Sqrt(float64(n))) }

// after are the angles of n pairs, one more than in a.
func (a angles) after(n int) angles {
	up, _ := math.Lgamma(float64(n) / 2)
	down, _ := math.Lgamma(float64(n-1) / 2)
	next := angles{n: n, peak: math.Exp(up-down) / math.Sqrt(math.Pi), wide: widest(n), stop: math.Pi / 2}
	if a.going == nil && a.stop >= math.Pi/2 { // no look yet
		return next
	}
	next.going = make([]float64, points)
	for i := range next.going {
		next.going[i] = a.before(next.wide * (2*float64(i)/(points-1) - 1))
	}
	return next
}

// before is the chance that no look up to a.n pairs stops, given the angle after one more
// pair.
//
// Let all differences have a sum of squares of 1. The last one is then x = sin φ/√n + cos
// φ·√((n−1)/n)·sin θ, where θ is distributed as the angle of n−1 values.
func (a angles) before(angle float64) float64 {
	n := float64(a.n + 1)
	sum, middle, spread := math.Sqrt(n)*math.Sin(angle), math.Sin(angle)/math.Sqrt(n), math.Cos(angle)*math.Sqrt((n-1)/n)
	least, most := a.open(sum)
	if spread == 0 {
		if middle > least && middle < most {
			return a.at(a.angle(sum, middle))
		}
		return 0
	}
	wide := widest(a.n)
	theta := func(x float64) float64 {
		return min(wide, max(-wide, math.Asin(min(1, max(-1, (x-middle)/spread)))))
	}
	return integral(theta(least), theta(most), func(theta float64) float64 {
		return a.density(theta) * a.at(a.angle(sum, middle+spread*math.Sin(theta)))
	})
}

// angle is the angle without the last difference.
func (a angles) angle(sum, last float64) float64 {
	return math.Atan2(sum-last, math.Sqrt(max(0, float64(a.n)*(1-last*last)-(sum-last)*(sum-last))))
}

// open is the range of the last difference in which the look at a.n pairs does not stop.
// The look stops where the other differences have a sum from tan²(stop)·(what they vary) on, so between
// the roots of a quadratic equation.
func (a angles) open(sum float64) (least, most float64) {
	s := math.Sin(a.stop)
	part := s * s * float64(a.n) // (sum − x)² = part·(1 − x²) at the boundary
	if sum <= -1 || a.stop >= math.Pi/2 {
		return -1, 1
	}
	root := part * (1 + part - sum*sum)
	if root < 0 {
		return 0, 0
	}
	least, most = (sum-math.Sqrt(root))/(1+part), (sum+math.Sqrt(root))/(1+part)
	if sum < 1 {
		most = 1
	}
	return least, most
}

// at is the chance that no look before a.n pairs has stopped, given the angle: cubic between the
// angles of the table (E. Catmull and R. Rom, "A Class of Local Interpolating Splines", 1974).
func (a angles) at(angle float64) float64 {
	if a.going == nil {
		return 1
	}
	place := (angle/a.wide + 1) / 2 * (points - 1)
	i := min(points-2, max(0, int(place)))
	u := min(1, max(0, place-float64(i)))
	p, q, r, s := a.going[max(0, i-1)], a.going[i], a.going[i+1], a.going[min(points-1, i+2)]
	v := q + u/2*(r-p+u*(2*p-5*q+4*r-s+u*(3*(q-r)+s-p)))
	return min(1, max(0, v))
}

// from is the angle from which a look stops with that chance, if there is no difference.
func (a angles) from(chance float64) float64 {
	low, high := 0.0, a.wide
	for range 60 {
		middle := (low + high) / 2
		if a.tail(middle, true) > chance {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// tail is the chance of an angle from there on, if there is no difference, and, if going, that no look before
// has stopped.
func (a angles) tail(from float64, going bool) float64 {
	return integral(from, a.wide, func(angle float64) float64 {
		p := a.density(angle)
		if going {
			p *= a.at(angle)
		}
		return p
	})
}

// density is the density of the angle if there is no difference: as cos^(n−2).
func (a angles) density(angle float64) float64 {
	return a.peak * math.Pow(math.Cos(angle), float64(a.n-2))
}

// spend is how much of alpha is spent once a share of the most pairs is there: in proportion (D. Lan and D.
// DeMets, "Discrete Sequential Boundaries for Clinical Trials", Biometrika 70 (1983); K. Kim and D. DeMets, "Design
// and Analysis of Group Sequential Tests Based on the Type I Error Spending Rate Function",
// Biometrika 74 (1987), with ρ = 1).
//
// Of the powers ρ from ½ to 3 and Pocock's function, it needs the fewest pairs or nearly so where
// pairs differ by 2 to 10 %, with 8 to 30 pairs at most and a change of 0 or twice the margin, and
// decides nearly as often as the slowest of them.
func spend(alpha, share float64) float64 { return alpha * share }
