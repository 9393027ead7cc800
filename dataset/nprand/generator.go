// Package nprand draws the random numbers of numpy and of CPython, bit for bit.
//
// Three generators matter to workloads made in Python: Generator is numpy.random.default_rng,
// RandomState is numpy.random.seed and the functions that go with it, and Python is the random
// module. A draw here consumes exactly as much of the underlying stream as it does there, so
// sequences of different draws agree as well. Where Python calls the C library's logarithm or
// power, this package calls its own, which are correctly rounded: Go's differ in some last bits. It
// converts a product to float64 before adding to it, so no machine fuses the two.
//
// The generators are plain values: a copy continues from the same place. None is safe for
// concurrent use.
package nprand

import "math/bits"

// A Generator is numpy.random.default_rng: the PCG64 (XSL-RR 128/64) generator of
// O'Neill's "PCG: A Family of Simple Fast Space-Efficient Statistically Good
// Algorithms for Random Number Generation".
type Generator struct {
	state, inc uint128
	half       uint32 // the upper half of a 64-bit draw whose lower half was used
	buffered   bool
}

// NewGenerator is default_rng(seed).
func NewGenerator(seed uint64) Generator {
	v := seedSequence(seed)
	g := Generator{inc: uint128{v[2]<<1 | v[3]>>63, v[3]<<1 | 1}}
	g.step()
	g.state = g.state.add(uint128{v[0], v[1]})
	g.step()
	return g
}

// uint64 draws 64 bits.
func (g *Generator) uint64() uint64 {
	g.step()
	return bits.RotateLeft64(g.state.hi^g.state.lo, -int(g.state.hi>>58))
}

// Integers draws from [low, high), which must not be empty. A range of one value
// takes no draw.
func (g *Generator) Integers(low, high int64) int64 {
	span := uint64(high) - uint64(low) - 1
	switch {
	case span == 0:
		return low
	case span < 1<<32-1:
		return low + int64(g.below32(uint32(span)+1))
	case span == 1<<32-1:
		return low + int64(g.uint32())
	default:
		return int64(uint64(low) + g.below64(span+1))
	}
}

// below32 is Lemire's bounded draw: "Fast Random Integer Generation in an
// Interval", 2019.
func (g *Generator) below32(n uint32) uint32 {
	product := uint64(g.uint32()) * uint64(n)
	if uint32(product) < n {
		for threshold := -n % n; uint32(product) < threshold; {
			product = uint64(g.uint32()) * uint64(n)
		}
	}
	return uint32(product >> 32)
}

// Permutation is the numbers 0 to n−1 in random order, n at most 2³². numpy's shuffle puts a list of n
// into that order, too.
func (g *Generator) Permutation(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for i := n - 1; i > 0; i-- {
		j := int(g.masked(uint32(i)))
		order[i], order[j] = order[j], order[i]
	}
	return order
}

// masked draws from 0 to most: 32-bit draws cut to as many bits as most has, until one is not above
// it.
func (g *Generator) masked(most uint32) uint32 {
	mask := uint32(1)<<bits.Len32(most) - 1
	for {
		if v := g.uint32() & mask; v <= most {
			return v
		}
	}
}

func (g *Generator) below64(n uint64) uint64 {
	hi, lo := bits.Mul64(g.uint64(), n)
	if lo < n {
		for threshold := -n % n; lo < threshold; {
			hi, lo = bits.Mul64(g.uint64(), n)
		}
	}
	return hi
}

// uint32 draws 32 bits: the lower half of a 64-bit draw, then its upper half.
func (g *Generator) uint32() uint32 {
	if g.buffered {
		g.buffered = false
		return g.half
	}
	v := g.uint64()
	g.half, g.buffered = uint32(v>>32), true
	return uint32(v)
}

func (g *Generator) step() {
	g.state = g.state.mul(multiplier).add(g.inc)
}

var multiplier = uint128{0x2360ED051FC65DA4, 0x4385DF649FCCF645}

type uint128 struct{ hi, lo uint64 }

func (a uint128) add(b uint128) uint128 {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return uint128{hi, lo}
}

func (a uint128) mul(b uint128) uint128 {
	hi, lo := bits.Mul64(a.lo, b.lo)
	return uint128{hi + a.hi*b.lo + a.lo*b.hi, lo}
}

// seedSequence is numpy's SeedSequence(seed).generate_state(4, uint64): it
// spreads the bits of a seed over a pool of four words, and the pool over the
// state of a generator.
func seedSequence(seed uint64) (state [4]uint64) {
	entropy := [4]uint32{uint32(seed), uint32(seed >> 32)}
	hash := hasher{constant: 0x43b0d7e5, factor: 0x931e8875}
	var pool [4]uint32
	for i, word := range entropy {
		pool[i] = hash.word(word)
	}
	for src := range pool {
		for dst := range pool {
			if src != dst {
				pool[dst] = mix(pool[dst], hash.word(pool[src]))
			}
		}
	}
	hash = hasher{constant: 0x8b51f9dd, factor: 0x58f38ded}
	for i := range state {
		low := hash.word(pool[2*i%4])
		high := hash.word(pool[(2*i+1)%4])
		state[i] = uint64(high)<<32 | uint64(low)
	}
	return state
}

// A hasher scrambles words, each in a different way.
type hasher struct{ constant, factor uint32 }

func (h *hasher) word(v uint32) uint32 {
	v ^= h.constant
	h.constant *= h.factor
	v *= h.constant
	return v ^ v>>16
}

func mix(x, y uint32) uint32 {
	v := 0xca01f9dd*x - 0x4973f715*y
	return v ^ v>>16
}
