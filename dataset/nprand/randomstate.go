package nprand

import (
	"math"
	"math/bits"
)

// A RandomState is numpy's legacy generator: what numpy.random.seed(s) seeds,
// and numpy.random.RandomState(s).
type RandomState struct {
	mt       mt19937
	gauss    float64 // the second value of the last pair of normal draws
	hasGauss bool
}

// NewRandomState is RandomState(seed).
func NewRandomState(seed uint32) *RandomState { return &RandomState{mt: newMT19937(seed)} }

// Drawn is how many 32-bit words were drawn since the seeding: the position of the generator in its
// stream.
func (r *RandomState) Drawn() uint64 { return r.mt.twists*mtWords + uint64(r.mt.next) - mtWords }

// Skip draws n 32-bit words and drops them.
func (r *RandomState) Skip(n uint64) {
	for range n {
		r.mt.uint32()
	}
}

// Random draws from [0, 1).
func (r *RandomState) Random() float64 { return r.mt.float64() }

// Gamma draws from the gamma distribution; shape must be positive.
func (r *RandomState) Gamma(shape, scale float64) float64 {
	switch {
	case shape == 1:
		return scale * r.exponential()
	case shape < 1:
		return scale * r.gammaBelowOne(shape)
	default:
		return scale * r.gammaAboveOne(shape)
	}
}

// Intn draws from [0, n), which must not be empty. A range of one value takes no
// draw. It is randint(0, n).
func (r *RandomState) Intn(n int64) int64 {
	last := uint64(n - 1)
	if last == 0 {
		return 0
	}
	mask := uint64(1)<<bits.Len64(last) - 1
	draw := r.mt.uint64
	if last < 1<<32 {
		draw = func() uint64 { return uint64(r.mt.uint32()) }
	}
	for {
		if v := draw() & mask; v <= last {
			return int64(v)
		}
	}
}

// Permutation is a random order of 0 to n−1. Its beginning is what choice without
// replacement and the sample method of pandas draw.
func (r *RandomState) Permutation(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for i := n - 1; i > 0; i-- {
		j := r.Intn(int64(i) + 1)
		order[i], order[j] = order[j], order[i]
	}
	return order
}

func (r *RandomState) exponential() float64 { return -Log(1 - r.mt.float64()) }

// normal is Marsaglia's polar method.
func (r *RandomState) normal() float64 {
	if r.hasGauss {
		r.hasGauss = false
		return r.gauss
	}
	for {
		x := float64(2*r.mt.float64()) - 1
		y := float64(2*r.mt.float64()) - 1
		square := float64(x*x) + float64(y*y)
		if square >= 1 || square == 0 {
			continue
		}
		f := math.Sqrt(-2 * Log(square) / square)
		r.gauss, r.hasGauss = f*x, true
		return f * y
	}
}

// gammaBelowOne is the rejection method of Ahrens and Dieter, 1974.
func (r *RandomState) gammaBelowOne(shape float64) float64 {
	for {
		u := r.mt.float64()
		v := r.exponential()
		if u <= 1-shape {
			if x := Pow(u, 1/shape); x <= v {
				return x
			}
			continue
		}
		y := -Log((1 - u) / shape)
		if x := Pow(1-shape+float64(shape*y), 1/shape); x <= v+y {
			return x
		}
	}
}

// gammaAboveOne is Marsaglia and Tsang's "A Simple Method for Generating Gamma
// Variables", 2000.
func (r *RandomState) gammaAboveOne(shape float64) float64 {
	b := shape - 1./3
	c := 1 / math.Sqrt(9*b)
	for {
		x := r.normal()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = v * v * v
		u := r.mt.float64()
		if u < 1-float64(0.0331*(x*x)*(x*x)) {
			return b * v
		}
		if Log(u) < float64(0.5*x*x)+float64(b*(1-v+Log(v))) {
			return b * v
		}
	}
}
