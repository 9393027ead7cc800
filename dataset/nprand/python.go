package nprand

import "math/bits"

// Python is the generator of CPython's random module (3.11).
type Python struct{ mt mt19937 }

// NewPython is random.seed(seed).
func NewPython(seed int64) *Python {
	size := uint64(max(seed, -seed)) // also right for the smallest int64
	key := []uint32{uint32(size), uint32(size >> 32)}
	if key[1] == 0 {
		key = key[:1]
	}
	return &Python{newMT19937Key(key)}
}

// Random draws from [0, 1).
func (p *Python) Random() float64 { return p.mt.float64() }

// bits draws k bits, 1 to 64: getrandbits(k).
func (p *Python) bits(k int) uint64 {
	if k > 32 {
		low := uint64(p.mt.uint32())
		return low | p.bits(k-32)<<32
	}
	return uint64(p.mt.uint32() >> (32 - k))
}

// Intn draws from [0, n), n > 0. It is the index that choice takes from a
// sequence of n, and randrange(n).
func (p *Python) Intn(n int) int {
	k := bits.Len(uint(n))
	for {
		if v := p.bits(k); v < uint64(n) {
			return int(v)
		}
	}
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
