package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"
)

// Stamps is a sequence of arrival times, offsets from the start of the run in nanoseconds, stored
// as zigzag varint differences: two to four bytes each at the intervals between tokens. The zero
// value is empty.
type Stamps struct {
	first, last time.Duration
	n           int
	deltas      []byte
}

// Append adds a stamp. It may be earlier than the last.
func (s *Stamps) Append(at time.Duration) {
	if s.n == 0 {
		s.first = at
	} else {
		s.deltas = binary.AppendVarint(s.deltas, int64(at-s.last))
	}
	s.last = at
	s.n++
}

// Len is the number of stamps.
func (s *Stamps) Len() int { return s.n }

// First is the first stamp, 0 without stamps.
func (s *Stamps) First() time.Duration { return s.first }

// Last is the last stamp, 0 without stamps.
func (s *Stamps) Last() time.Duration { return s.last }

// all yields the stamps in order.
func (s *Stamps) all() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		if s.n == 0 || !yield(s.first) {
			return
		}
		at := s.first
		for gap := range s.Gaps() {
			if at += gap; !yield(at) {
				return
			}
		}
	}
}

// Gaps yields the differences between successive stamps: one fewer than Len. For a Record's Chunks
// these are vLLM's inter-token latencies.
func (s *Stamps) Gaps() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for b := s.deltas; len(b) > 0; {
			v, n := binary.Varint(b)
			if b = b[n:]; !yield(time.Duration(v)) {
				return
			}
		}
	}
}

// shift moves all stamps by d.
func (s *Stamps) shift(d time.Duration) {
	if s.n > 0 {
		s.first, s.last = s.first+d, s.last+d
	}
}

// Ends is s with only its first and its last time.
func (s Stamps) Ends() Stamps {
	s.deltas = nil
	return s
}

// Gapless reports that there are gaps, but only their sum is known.
func (s *Stamps) Gapless() bool { return s.n > 1 && len(s.deltas) == 0 }

// together merges the stamps of both in order; of two equal ones, a's comes first. If only the ends
// of either are known, the result also has only its ends.
func together(a, b Stamps) Stamps {
	switch {
	case a.n == 0:
		return b
	case b.n == 0:
		return a
	case a.Gapless() || b.Gapless():
		return Stamps{first: min(a.first, b.first), last: max(a.last, b.last), n: a.n + b.n}
	}
	var all Stamps
	next, stop := iter.Pull(b.all())
	defer stop()
	at, more := next()
	for early := range a.all() {
		for ; more && at < early; at, more = next() {
			all.Append(at)
		}
		all.Append(early)
	}
	for ; more; at, more = next() {
		all.Append(at)
	}
	return all
}

// Marks say which stamps may be late, and by how much at most: pairs of uvarints, the index of a
// stamp and nanoseconds, in the order of the stamps. The zero value marks none.
type Marks []byte

// Add marks the stamp of an index, which must be above all marked ones.
func (m *Marks) Add(index int, by time.Duration) {
	*m = binary.AppendUvarint(binary.AppendUvarint(*m, uint64(index)), uint64(by))
}

// all yields the indices of the marked stamps, and how late each may be. It stops at a malformed
// mark.
func (m Marks) All() iter.Seq2[int, time.Duration] {
	return func(yield func(int, time.Duration) bool) {
		for b := m; len(b) > 0; {
			index, n := binary.Uvarint(b)
			by, k := binary.Uvarint(b[max(n, 0):])
			if n <= 0 || k <= 0 || index > maxChunks || by > math.MaxInt64 {
				return
			}
			if b = b[n+k:]; !yield(int(index), time.Duration(by)) {
				return
			}
		}
	}
}

// among are the marks of b's stamps once a is merged with b, as together does.
func (m Marks) among(a, b Stamps) Marks {
	if len(m) == 0 || b.Gapless() {
		return nil
	}
	before := slices.Collect(a.all())
	at := slices.Collect(b.all())
	var moved Marks
	for i, by := range m.All() {
		if i < len(at) {
			earlier, _ := slices.BinarySearch(before, at[i]+1)
			moved.Add(i+earlier, by)
		}
	}
	return moved
}

// maxChunks bounds the chunks that a line can claim without listing them.
const maxChunks = 1 << 24

// settle computes the last stamp, if there are gaps. It is an error for stamps that cannot be.
func (s *Stamps) settle() error {
	switch {
	case s.n < 0 || s.n > maxChunks:
		return fmt.Errorf("%d stamps", s.n)
	case s.n == 0:
		*s = Stamps{}
		return nil
	case len(s.deltas) == 0:
		return nil
	}
	at, count := s.first, 1
	for b := s.deltas; len(b) > 0; count++ {
		gap, size := binary.Varint(b)
		if size <= 0 {
			return errors.New("stamps: malformed varint")
		}
		at += time.Duration(gap)
		b = b[size:]
	}
	if count != s.n {
		return fmt.Errorf("%d stamps, but %d gaps", s.n, count-1)
	}
	s.last = at
	return nil
}
