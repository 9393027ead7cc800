package nprand

import (
	"math"
	"math/bits"
)

// Python is the generator of CPython's random module (3.11).
type Python struct{ mt mt19937 }

// NewPython is random.seed(seed).
func NewPython(seed int64) *Python {
	size := uint64(max(seed, -seed)) // also right for the smallest int64
	return NewPythonKey([]uint32{uint32(size), uint32(size >> 32)})
}

// NewPythonKey is random.seed of an integer of any size, given by the 32-bit
// words of its absolute value, least significant first.
func NewPythonKey(words []uint32) *Python {
	n := len(words)
	for n > 1 && words[n-1] == 0 {
		n--
	}
	if n == 0 {
		words, n = []uint32{0}, 1
	}
	return &Python{newMT19937Key(words[:n])}
}

// Random draws from [0, 1).
func (p *Python) Random() float64 { return p.mt.float64() }

// Bits draws k bits, 0 to 64: getrandbits(k).
func (p *Python) Bits(k int) uint64 {
	if k > 32 {
		low := uint64(p.mt.uint32())
		return low | p.Bits(k-32)<<32
	}
	if k == 0 {
		return 0
	}
	return uint64(p.mt.uint32() >> (32 - k))
}

// Intn draws from [0, n), n > 0. It is the index that choice takes from a
// sequence of n, and randrange(n).
func (p *Python) Intn(n int) int {
	k := bits.Len(uint(n))
	for {
		if v := p.Bits(k); v < uint64(n) {
			return int(v)
		}
	}
}

// Between draws from low to high, both included: randint(low, high).
func (p *Python) Between(low, high int) int { return low + p.Intn(high-low+1) }

// Uniform is uniform(low, high).
func (p *Python) Uniform(low, high float64) float64 {
	return low + float64((high-low)*p.Random())
}

// Shuffle puts n elements into a random order, by swapping pairs of them.
func (p *Python) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, p.Intn(i+1))
	}
}

// Choices draws k indices into a sequence of n, with replacement.
func (p *Python) Choices(n, k int) []int {
	drawn := make([]int, k)
	for i := range drawn {
		drawn[i] = int(p.Random() * float64(n))
	}
	return drawn
}

// Sample draws k ≤ n different indices into a sequence of n.
func (p *Python) Sample(n, k int) []int {
	drawn := make([]int, k)
	if n <= sampleBySet(k) {
		pool := make([]int, n)
		for i := range pool {
			pool[i] = i
		}
		for i := range drawn {
			j := p.Intn(n - i)
			drawn[i] = pool[j]
			pool[j] = pool[n-i-1]
		}
		return drawn
	}
	seen := make(map[int]bool, k)
	for i := range drawn {
		j := p.Intn(n)
		for seen[j] {
			j = p.Intn(n)
		}
		seen[j] = true
		drawn[i] = j
	}
	return drawn
}

// sampleBySet is the size up to which a sequence is copied to draw k from it;
// from a larger one, Sample remembers what it drew.
func sampleBySet(k int) int {
	size := 21
	if k > 5 {
		table := 4
		for table < 3*k {
			table *= 4
		}
		size += table
	}
	return size
}

// Exponential is expovariate(rate).
func (p *Python) Exponential(rate float64) float64 { return -Log(1-p.Random()) / rate }

// Gamma is gammavariate(shape, scale).
func (p *Python) Gamma(shape, scale float64) float64 {
	switch {
	case shape == 1:
		return -Log(1-p.Random()) * scale
	case shape < 1:
		return p.gammaBelowOne(shape) * scale
	default:
		return p.gammaAboveOne(shape) * scale
	}
}

// gammaBelowOne is Ahrens and Dieter's algorithm GS, 1974.
func (p *Python) gammaBelowOne(shape float64) float64 {
	for {
		b := (math.E + shape) / math.E
		q := b * p.Random()
		x := 0.0
		if q <= 1 {
			x = Pow(q, 1/shape)
		} else {
			x = -Log((b - q) / shape)
		}
		u := p.Random()
		if q > 1 && u <= Pow(x, shape-1) || q <= 1 && u <= Exp(-x) {
			return x
		}
	}
}

// gammaAboveOne is Cheng's "The Generation of Gamma Variables with Non-integral
// Shape Parameter", 1977.
func (p *Python) gammaAboveOne(shape float64) float64 {
	a := math.Sqrt(float64(2*shape) - 1)
	b := shape - Log(4)
	c := shape + a
	limit := 1 + Log(4.5)
	for {
		u := p.Random()
		if !(1e-7 < u && u < 0.9999999) {
			continue
		}
		w := 1 - p.Random()
		v := Log(u/(1-u)) / a
		x := shape * Exp(v)
		z := u * u * w
		r := b + float64(c*v) - x
		if r+limit-float64(4.5*z) >= 0 || r >= Log(z) {
			return x
		}
	}
}
