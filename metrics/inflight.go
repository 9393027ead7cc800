package metrics

import (
	"slices"
	"time"
)

// An inFlight finds out how many requests were in flight at once. It keeps two
// times for each, up to a number given; past that it settles for the most that
// touched one step, which is no fewer.
type inFlight struct {
	busy         time.Duration // of all requests together
	starts, ends []time.Duration
	folded       *steps // one up where a request began, one down after it ended
}

// add takes a request that went from start to end.
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
		f.folded = new(steps)
		for i := range f.starts {
			f.folded.touch(f.starts[i], f.ends[i])
		}
		f.starts, f.ends = nil, nil
	}
	f.folded.touch(start, end)
}

// touch counts a request at every step that it touched, for highest.
func (s *steps) touch(start, end time.Duration) {
	s.add(start, 1)
	s.add(end+s.width(), -1)
}

// peak is the most requests in flight at one instant. One that ends as another
// starts was not beside it.
func (f *inFlight) peak() int {
	if f.folded != nil {
		return f.folded.highest()
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
