package nprand

import "encoding/binary"

// Double draws from [0, 1): random().
func (g *Generator) Double() float64 { return float64(g.uint64()>>11) / (1 << 53) }

// Bytes fills p with bytes: integers(0, 256, dtype=uint8). Each draw of 32 bits gives four, the lowest
// first; what is left of the last one is dropped.
func (g *Generator) Bytes(p []byte) {
	for ; len(p) >= 4 && g.buffered; p = p[4:] {
		binary.LittleEndian.PutUint32(p, g.uint32())
	}
	for ; len(p) >= 8; p = p[8:] {
		binary.LittleEndian.PutUint64(p, g.uint64())
	}
	for ; len(p) >= 4; p = p[4:] {
		binary.LittleEndian.PutUint32(p, g.uint32())
	}
	if len(p) > 0 {
		var last [4]byte
		binary.LittleEndian.PutUint32(last[:], g.uint32())
		copy(p, last[:])
	}
}

// SkipBytes leaves the generator as Bytes for n bytes does, in a time that hardly grows with n.
func (g *Generator) SkipBytes(n int) {
	words := uint64(n+3) / 4
	if words > 0 && g.buffered {
		g.buffered = false
		words--
	}
	g.advance(words / 2)
	if words%2 == 1 {
		g.uint32()
	}
}

// advance is n steps at once: Brown, "Random Number Generation with Arbitrary Strides", 1994.
func (g *Generator) advance(n uint64) {
	factor, sum := uint128{0, 1}, uint128{}
	for by, plus := multiplier, g.inc; n > 0; n >>= 1 {
		if n&1 == 1 {
			factor, sum = factor.mul(by), sum.mul(by).add(plus)
		}
		plus = plus.mul(by.add(uint128{0, 1}))
		by = by.mul(by)
	}
	g.state = g.state.mul(factor).add(sum)
}
