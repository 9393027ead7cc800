// Package tally counts by time within bounded memory: how much fell into each second, how many things were in
// progress at once, from when to when. It gets coarser where it would outgrow its bound, and tallies of several
// clocks merge.
package tally

import (
	"slices"
	"time"
)

// maxSteps bounds a TimeSeries' memory: 16 MiB.
const maxSteps = 1 << 22

// stepWidths are the widths that steps can have, from the finest. Each divides the next, and all
// divide a second. The last covers 48 days.
var stepWidths = []time.Duration{
	10 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, time.Second,
}

// A TimeSeries counts by time, in steps of equal width. When a run outgrows them they become wider, so
// it never takes more than maxSteps: 10 ms up to 11.6 h, 20 ms up to 23 h, 100 ms up to 4.8 days,
// 200 ms up to 9.7 days. It ignores times that even the widest steps cannot hold together with the
// others.
type TimeSeries struct {
	coarse int   // which of stepWidths
	origin int64 // the first count's time in widths
	counts []int32
}

// Width is how wide the steps are by now.
func (s *TimeSeries) Width() time.Duration { return stepWidths[s.coarse] }

// Add counts n things at a time.
func (s *TimeSeries) Add(at time.Duration, n int) {
	if !s.fits(at) {
		return
	}
	for !s.holds(at, s.Width()) {
		s.widen()
	}
	i := FloorDiv(int64(at), int64(s.Width()))
	s.reach(i)
	s.counts[i-s.origin] += int32(n)
}

// fits reports whether the widest steps can hold a time together with the earlier ones.
func (s *TimeSeries) fits(at time.Duration) bool { return s.holds(at, stepWidths[len(stepWidths)-1]) }

// holds reports whether steps of that width can hold a time together with the earlier ones.
func (s *TimeSeries) holds(at, width time.Duration) bool {
	first, last := int64(at), int64(at)
	if n := len(s.counts); n > 0 {
		first = min(first, s.origin*int64(s.Width()))
		last = max(last, (s.origin+int64(n)-1)*int64(s.Width()))
	}
	return FloorDiv(last, int64(width))-FloorDiv(first, int64(width)) < maxSteps
}

// reach makes room for step i.
func (s *TimeSeries) reach(i int64) {
	n := int64(len(s.counts))
	if n == 0 {
		s.origin = i
	}
	if short := s.origin - i; short > 0 {
		// Make more room than needed, so that not every step back moves all the others.
		short = min(max(short, n), maxSteps-n)
		s.counts = slices.Insert(s.counts, 0, make([]int32, short)...)
		s.origin -= short
	}
	if short := i + 1 - s.origin - int64(len(s.counts)); short > 0 {
		s.counts = append(s.counts, make([]int32, short)...)
	}
}

// widen switches to the next width, which must exist.
func (s *TimeSeries) widen() {
	factor := int64(stepWidths[s.coarse+1] / stepWidths[s.coarse])
	origin := FloorDiv(s.origin, factor)
	var wide []int32
	for i, n := range s.counts {
		at := FloorDiv(s.origin+int64(i), factor) - origin
		if at == int64(len(wide)) {
			wide = append(wide, 0)
		}
		wide[at] += n
	}
	s.coarse++
	s.origin, s.counts = origin, wide
}

// Merge adds the counts of another, whose clock began that much later. Each goes into the step
// where its middle then is.
func (s *TimeSeries) Merge(other *TimeSeries, later time.Duration) {
	for s.coarse < other.coarse {
		s.widen()
	}
	width := other.Width()
	for i, n := range other.counts {
		if n > 0 {
			s.Add(time.Duration(other.origin+int64(i))*width+width/2+later, int(n))
		}
	}
}

// BusiestSecond is the largest sum over any second that begins with a step.
func (s *TimeSeries) BusiestSecond() int {
	second := int(time.Second / s.Width())
	most, sum := 0, 0
	for i, n := range s.counts {
		sum += int(n)
		if i >= second {
			sum -= int(s.counts[i-second])
		}
		most = max(most, sum)
	}
	return most
}

// FloorDiv is a / b, rounded down.
func FloorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
