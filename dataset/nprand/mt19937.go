package nprand

const (
	mtWords = 624
	mtShift = 397
)

// mt19937 is the Mersenne Twister of Matsumoto and Nishimura, 1998.
type mt19937 struct {
	state  [mtWords]uint32
	next   int
	twists uint64 // how often state was renewed
}

// newMT19937 seeds with one word, as the authors' init_genrand.
func newMT19937(seed uint32) mt19937 {
	m := mt19937{next: mtWords}
	m.state[0] = seed
	for i := uint32(1); i < mtWords; i++ {
		seed = 1812433253*(seed^seed>>30) + i
		m.state[i] = seed
	}
	return m
}

// newMT19937Key seeds with at least one word, as the authors' init_by_array.
func newMT19937Key(key []uint32) mt19937 {
	m := newMT19937(19650218)
	s := &m.state
	i := 1
	advance := func() {
		if i++; i == mtWords {
			s[0] = s[mtWords-1]
			i = 1
		}
	}
	for k := range max(mtWords, len(key)) {
		j := k % len(key)
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1664525) + key[j] + uint32(j)
		advance()
	}
	for range mtWords - 1 {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1566083941) - uint32(i)
		advance()
	}
	s[0] = 1 << 31
	return m
}

func (m *mt19937) uint32() uint32 {
	if m.next == mtWords {
		m.twist()
	}
	v := m.state[m.next]
	m.next++
	v ^= v >> 11
	v ^= v << 7 & 0x9d2c5680
	v ^= v << 15 & 0xefc60000
	return v ^ v>>18
}

func (m *mt19937) uint64() uint64 {
	high := uint64(m.uint32())
	return high<<32 | uint64(m.uint32())
}

// float64 draws from [0, 1) with 53 bits.
func (m *mt19937) float64() float64 {
	a, b := m.uint32()>>5, m.uint32()>>6
	return float64(uint64(a)<<26|uint64(b)) / (1 << 53)
}

func (m *mt19937) twist() {
	s := &m.state
	for i := range s {
		v := s[i]&(1<<31) | s[(i+1)%mtWords]&(1<<31-1)
		s[i] = s[(i+mtShift)%mtWords] ^ v>>1 ^ (v&1)*0x9908b0df
	}
	m.next = 0
	m.twists++
}
