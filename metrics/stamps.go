package metrics

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
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

// All yields the stamps in order.
func (s *Stamps) All() iter.Seq[time.Duration] {
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
	if s.n == 0 {
		return
	}
	s.first += d
	s.last += d
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
	next, stop := iter.Pull(b.All())
	defer stop()
	at, more := next()
	for early := range a.All() {
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

// maxChunks bounds the chunks that a line can claim without listing them.
const maxChunks = 1 << 24

// wireStamps is Stamps as JSON. Without gaps only the two ends are known.
type wireStamps struct {
	N     int    `json:"n"`
	First int64  `json:"first"`
	Last  int64  `json:"last,omitempty"` // if there are no gaps to compute it from
	Gaps  []byte `json:"gaps,omitempty"` // zigzag varints, nanoseconds
}

// IsZero says that there are no stamps.
func (s Stamps) IsZero() bool { return s.n == 0 }

// MarshalJSON writes about five bytes a stamp.
func (s Stamps) MarshalJSON() ([]byte, error) {
	w := wireStamps{N: s.n, First: int64(s.first), Gaps: s.deltas}
	if len(s.deltas) == 0 {
		w.Last = int64(s.last)
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Stamps) UnmarshalJSON(data []byte) error {
	var w wireStamps
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	if w.N < 0 || w.N > maxChunks {
		return fmt.Errorf("%d stamps", w.N)
	}
	*s = Stamps{first: time.Duration(w.First), last: time.Duration(w.Last), n: w.N, deltas: w.Gaps}
	if len(w.Gaps) == 0 {
		return nil
	}
	at, n := w.First, 1
	for b := w.Gaps; len(b) > 0; n++ {
		gap, size := binary.Varint(b)
		if size <= 0 {
			return errors.New("stamps: malformed varint")
		}
		at += gap
		b = b[size:]
	}
	if n != w.N {
		return fmt.Errorf("%d stamps, but %d gaps", w.N, n-1)
	}
	s.last = time.Duration(at)
	return nil
}
