package stream

// A hashes is a set of hashes that takes 11 to 22 bytes for each, half of what a map does. It is a
// table with a power of two of entries, at most three quarters of them taken. A hash is at the
// index of its low bits or soon after. The zero value is empty.
type hashes struct {
	places []uint64 // 0 where free
	n      int
}

// add reports whether the hash is new.
func (s *hashes) add(hash uint64) bool {
	if s.n >= len(s.places)/4*3 {
		s.grow()
	}
	hash = max(hash, 1)
	at := s.find(hash)
	if s.places[at] == hash {
		return false
	}
	s.places[at] = hash
	s.n++
	return true
}

// find is the index of a hash, or of the free entry where it belongs.
func (s *hashes) find(hash uint64) uint64 {
	last := uint64(len(s.places) - 1)
	at := hash & last
	for s.places[at] != 0 && s.places[at] != hash {
		at = (at + 1) & last
	}
	return at
}

func (s *hashes) grow() {
	before := s.places
	s.places = make([]uint64, max(2*len(before), 1024))
	for _, hash := range before {
		if hash != 0 {
			s.places[s.find(hash)] = hash
		}
	}
}
