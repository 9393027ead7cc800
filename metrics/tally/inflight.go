package tally

import (
	"cmp"
	"slices"
	"time"
)

// An InFlight finds the peak of requests in flight at once. It keeps two times for each request, up
// to a number. Beyond that it uses an upper bound: the most requests that touched one step, or the
// sum of the peaks of all parts.
type InFlight struct {
	Busy         time.Duration // sum over all requests
	starts, ends []time.Duration
	folded       *flights
	parts        int // sum of the peaks of the parts that were merged; 0 for none
}

// Add adds a request that was in flight from start to end.
func (f *InFlight) Add(start, end time.Duration, most int) {
	if end < start {
		return
	}
	f.Busy += end - start
	if f.folded == nil && len(f.starts) < most {
		f.starts, f.ends = append(f.starts, start), append(f.ends, end)
		return
	}
	if f.folded == nil {
		f.fold()
	}
	f.folded.add(start, end)
}

// Expect makes room for the times of n requests.
func (f *InFlight) Expect(n int) {
	if f.starts == nil && f.folded == nil {
		f.starts, f.ends = make([]time.Duration, 0, n), make([]time.Duration, 0, n)
	}
}

// fold replaces the times by steps.
func (f *InFlight) fold() {
	f.folded = f.flights()
	f.starts, f.ends = nil, nil
}

func (f *InFlight) flights() *flights {
	if f.folded != nil {
		return f.folded
	}
	steps := new(flights)
	for i := range f.starts {
		steps.add(f.starts[i], f.ends[i])
	}
	return steps
}

// Merge adds another's requests, whose clock began that much later.
func (f *InFlight) Merge(other *InFlight, later time.Duration, most int) {
	f.Busy += other.Busy
	if f.folded == nil && other.folded == nil && len(f.starts)+len(other.starts) <= most {
		for i := range other.starts {
			f.starts, f.ends = append(f.starts, other.starts[i]+later), append(f.ends, other.ends[i]+later)
		}
		return
	}
	f.parts = f.Peak() + other.Peak()
	f.fold()
	f.folded.merge(other.flights(), later)
}

// Peak is the most requests in flight at one instant. A request that ends as another starts does
// not overlap it.
func (f *InFlight) Peak() int {
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

// Any is the time in which at least one request was in flight.
func (f *InFlight) Any() (sum time.Duration) {
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
type flights struct{ starts, ends TimeSeries }

// add ignores a request if one of its times is nonsense.
func (f *flights) add(start, end time.Duration) {
	if !f.starts.fits(start) || !f.ends.fits(end) {
		return
	}
	f.starts.Add(start, 1)
	f.ends.Add(end, 1)
	f.level()
}

// merge adds another's, whose clock began that much later.
func (f *flights) merge(other *flights, later time.Duration) {
	f.starts.Merge(&other.starts, later)
	f.ends.Merge(&other.ends, later)
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
			sum += f.starts.Width()
		}
		if i := step - f.ends.origin; i >= 0 {
			n -= f.ends.counts[i]
		}
	}
	return sum
}
