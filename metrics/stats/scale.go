package stats

import (
	"math"
	"slices"
)

// A Scale is where differences of one number are measured, so that equal changes are equally large
// and worse is up: logarithms, or shares of what the old ones are if a number is not above 0, or amounts if that
// mean is not above 0 either.
type Scale struct {
	Higher bool    // more is better
	Logs   bool    // logarithms
	Whole  float64 // what shares are shares of; 0 for amounts
}

// ScaleOf is the scale for old and new values, of which center says where they are. Higher says that more is
// better.
func ScaleOf(higher bool, old, new []float64, center func([]float64) float64) Scale {
	s := Scale{Higher: higher}
	if least := min(slices.Min(old), slices.Min(new)); least > 0 {
		s.Logs = true
	} else if whole := center(old); whole > 0 {
		s.Whole = whole
	}
	return s
}

// signed is d, turned round if more is better.
func (s Scale) signed(d float64) float64 {
	if s.Higher {
		return 0 - d // not −0
	}
	return d
}

// Mean is the mean of values on the scale.
func (s Scale) Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		switch {
		case s.Logs:
			v = math.Log(v)
		case s.Whole > 0:
			v /= s.Whole
		}
		sum += v
	}
	return s.signed(sum / float64(len(values)))
}

// Number is the number that is there on the scale.
func (s Scale) Number(at float64) float64 {
	switch at = s.signed(at); {
	case s.Logs:
		return math.Exp(at)
	case s.Whole > 0:
		return at * s.Whole
	}
	return at
}

// Distance is how far a change for the worse by that share reaches.
func (s Scale) Distance(share float64) float64 {
	switch {
	case !s.Logs:
		return share
	case !s.Higher:
		return math.Log1p(share)
	case share >= 1:
		return math.Inf(1)
	}
	return -math.Log1p(-share)
}

// Share is the share of the old number by which a number with that distance from it differs. From 0
// it is infinite.
func (s Scale) Share(distance float64) float64 {
	d := s.signed(distance)
	switch {
	case s.Logs:
		return math.Expm1(d)
	case s.Whole > 0:
		return max(-1, d)
	case d == 0:
		return 0
	}
	return math.Inf(1)
}
