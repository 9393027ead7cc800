package nprand

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
