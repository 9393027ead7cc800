package metrics

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"
)

// maxSteps bounds a steps' memory: 16 MiB.
const maxSteps = 1 << 22

// stepWidths are the widths that steps can have, from the finest. Each divides the next, and all
// divide a second. The last covers 48 days.
var stepWidths = []time.Duration{
	10 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, time.Second,
}

// A steps counts by time, in steps of equal width. When a run outgrows them they become wider, so
// it never takes more than maxSteps: 10 ms up to 11.6 h, 20 ms up to 23 h, 100 ms up to 4.8 days,
// 200 ms up to 9.7 days. It ignores times that even the widest steps cannot hold together with the
// others.
type steps struct {
	coarse int   // which of stepWidths
	origin int64 // the first count's time in widths
	counts []int32
}

func (s *steps) width() time.Duration { return stepWidths[s.coarse] }

func (s *steps) add(at time.Duration, n int) {
	if !s.fits(at) {
		return
	}
	for !s.holds(at, s.width()) {
		s.widen()
	}
	i := floorDiv(int64(at), int64(s.width()))
	s.reach(i)
	s.counts[i-s.origin] += int32(n)
}

// fits reports whether the widest steps can hold a time together with the earlier ones.
func (s *steps) fits(at time.Duration) bool { return s.holds(at, stepWidths[len(stepWidths)-1]) }

// holds reports whether steps of that width can hold a time together with the earlier ones.
func (s *steps) holds(at, width time.Duration) bool {
	first, last := int64(at), int64(at)
	if n := len(s.counts); n > 0 {
		first = min(first, s.origin*int64(s.width()))
		last = max(last, (s.origin+int64(n)-1)*int64(s.width()))
	}
	return floorDiv(last, int64(width))-floorDiv(first, int64(width)) < maxSteps
}

// reach makes room for step i.
func (s *steps) reach(i int64) {
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
func (s *steps) widen() {
	factor := int64(stepWidths[s.coarse+1] / stepWidths[s.coarse])
	origin := floorDiv(s.origin, factor)
	var wide []int32
	for i, n := range s.counts {
		at := floorDiv(s.origin+int64(i), factor) - origin
		if at == int64(len(wide)) {
			wide = append(wide, 0)
		}
		wide[at] += n
	}
	s.coarse++
	s.origin, s.counts = origin, wide
}

// merge adds the counts of another, whose clock began that much later. Each goes into the step
// where its middle then is.
func (s *steps) merge(other *steps, later time.Duration) {
	for s.coarse < other.coarse {
		s.widen()
	}
	width := other.width()
	for i, n := range other.counts {
		if n > 0 {
			s.add(time.Duration(other.origin+int64(i))*width+width/2+later, int(n))
		}
	}
}

// busiestSecond is the largest sum over any second that begins with a step.
func (s *steps) busiestSecond() int {
	second := int(time.Second / s.width())
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

// mostOnWire bounds the counts of a steps in a stream. The steps become wider until they fit: 10 ms
// up to 11 minutes, a second from 3.6 hours on.
const mostOnWire = 1 << 16

// packed encodes counts for a stream: varints, deflated.
func packed[N int | int32](counts []N) []byte {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestCompression) // that level is allowed
	var varint [binary.MaxVarintLen64]byte
	for _, n := range counts {
		w.Write(varint[:binary.PutUvarint(varint[:], uint64(n))]) // a buffer accepts everything
	}
	w.Close()
	return b.Bytes()
}

// unpacked reads what packed writes, at most so many counts.
func unpacked[N int | int32](data []byte, most int) ([]N, error) {
	if len(data) == 0 {
		return nil, nil
	}
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data)), int64(most)*binary.MaxVarintLen32))
	if err != nil {
		return nil, fmt.Errorf("counts: %w", err)
	}
	var counts []N
	for len(plain) > 0 && len(counts) < most {
		n, size := binary.Uvarint(plain)
		if size <= 0 || n > math.MaxInt32 {
			return nil, errors.New("counts: malformed varint")
		}
		counts = append(counts, N(n))
		plain = plain[size:]
	}
	return counts, nil
}

// wireSteps is steps as JSON.
type wireSteps struct {
	Width  int    `json:"width,omitempty"`  // which of stepWidths
	Origin int64  `json:"origin,omitempty"` // in widths
	Counts []byte `json:"counts,omitempty"` // packed
}

// MarshalJSON writes at most mostOnWire counts, unless the widest steps have more.
func (s steps) MarshalJSON() ([]byte, error) {
	for len(s.counts) > mostOnWire && s.coarse < len(stepWidths)-1 {
		s.widen() // does not change the original's counts
	}
	w := wireSteps{Width: s.coarse, Origin: s.origin}
	if len(s.counts) > 0 {
		w.Counts = packed(s.counts)
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *steps) UnmarshalJSON(data []byte) error {
	var w wireSteps
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	if w.Width < 0 || w.Width >= len(stepWidths) {
		return fmt.Errorf("steps of width %d", w.Width)
	}
	if far := math.MaxInt64 / 2 / int64(stepWidths[w.Width]); w.Origin < -far || w.Origin > far {
		return fmt.Errorf("steps from %d", w.Origin)
	}
	counts, err := unpacked[int32](w.Counts, maxSteps)
	*s = steps{w.Width, w.Origin, counts}
	return err
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// An inFlight finds the peak of requests in flight at once. It keeps two times for each request, up
// to a number. Beyond that it uses an upper bound: the most requests that touched one step, or the
// sum of the peaks of all parts.
type inFlight struct {
	busy         time.Duration // sum over all requests
	starts, ends []time.Duration
	folded       *flights
	parts        int // sum of the peaks of the parts that were merged; 0 for none
}

// add adds a request that was in flight from start to end.
func (f *inFlight) add(start, end time.Duration, most int) {
	if end < start {
		return
	}
	f.busy += end - start
	if f.folded == nil && len(f.starts) < most {
		f.starts, f.ends = append(f.starts, start), append(f.ends, end)
		return
	}
	if f.folded == nil {
		f.fold()
	}
	f.folded.add(start, end)
}

// fold replaces the times by steps.
func (f *inFlight) fold() {
	f.folded = f.flights()
	f.starts, f.ends = nil, nil
}

func (f *inFlight) flights() *flights {
	if f.folded != nil {
		return f.folded
	}
	steps := new(flights)
	for i := range f.starts {
		steps.add(f.starts[i], f.ends[i])
	}
	return steps
}

// merge adds another's requests, whose clock began that much later.
func (f *inFlight) merge(other *inFlight, later time.Duration, most int) {
	f.busy += other.busy
	if f.folded == nil && other.folded == nil && len(f.starts)+len(other.starts) <= most {
		for i := range other.starts {
			f.starts, f.ends = append(f.starts, other.starts[i]+later), append(f.ends, other.ends[i]+later)
		}
		return
	}
	f.parts = f.peak() + other.peak()
	f.fold()
	f.folded.merge(other.flights(), later)
}

// peak is the most requests in flight at one instant. A request that ends as another starts does
// not overlap it.
func (f *inFlight) peak() int {
	if f.folded != nil {
		n := f.folded.peak()
		return min(n, cmp.Or(f.parts, n))
	}
	starts, ends := slices.Sorted(slices.Values(f.starts)), slices.Sorted(slices.Values(f.ends))
	most, ended := 0, 0
	for i, start := range starts {
		for ends[ended] <= start && ended < i {
			ended++
		}
		most = max(most, i+1-ended)
	}
	return most
}

// any is the time in which at least one request was in flight.
func (f *inFlight) any() (sum time.Duration) {
	if f.folded != nil {
		return f.folded.any()
	}
	starts, ends := slices.Sorted(slices.Values(f.starts)), slices.Sorted(slices.Values(f.ends))
	for i, n := 0, 0; i < len(ends); i++ {
		// The gap after the i-th end is idle if all that began has ended.
		for n < len(starts) && starts[n] <= ends[i] {
			n++
		}
		if n == i+1 && n < len(starts) {
			sum -= starts[n] - ends[i]
		}
	}
	if len(ends) > 0 {
		sum += ends[len(ends)-1] - starts[0]
	}
	return sum
}

// A flights counts starts and ends separately, in steps of the same width. In one sum they would
// cancel out within a wide step.
type flights struct{ starts, ends steps }

// add ignores a request if one of its times is nonsense.
func (f *flights) add(start, end time.Duration) {
	if !f.starts.fits(start) || !f.ends.fits(end) {
		return
	}
	f.starts.add(start, 1)
	f.ends.add(end, 1)
	f.level()
}

// merge adds another's, whose clock began that much later.
func (f *flights) merge(other *flights, later time.Duration) {
	f.starts.merge(&other.starts, later)
	f.ends.merge(&other.ends, later)
	f.level()
}

// level makes all steps as wide as the widest.
func (f *flights) level() {
	for f.starts.coarse < f.ends.coarse {
		f.starts.widen()
	}
	for f.ends.coarse < f.starts.coarse {
		f.ends.widen()
	}
}

// peak is the most requests that touched one step.
func (f *flights) peak() int {
	most, n, ended := 0, 0, 0
	for i, started := range f.starts.counts {
		for ; ended < len(f.ends.counts) && f.ends.origin+int64(ended) < f.starts.origin+int64(i); ended++ {
			n -= int(f.ends.counts[ended])
		}
		n += int(started)
		most = max(most, n)
	}
	return most
}

// any is the time of the steps that a request touched.
func (f *flights) any() (sum time.Duration) {
	n := int32(0)
	for step := f.starts.origin; step < f.ends.origin+int64(len(f.ends.counts)); step++ {
		if i := step - f.starts.origin; i < int64(len(f.starts.counts)) {
			n += f.starts.counts[i]
		}
		if n > 0 {
			sum += f.starts.width()
		}
		if i := step - f.ends.origin; i >= 0 {
			n -= f.ends.counts[i]
		}
	}
	return sum
}
