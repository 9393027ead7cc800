package tally

import "time"

// An Extent is the range from the first of some times to the last.
type Extent struct {
	Any         bool
	First, Last time.Duration
}

// Add takes a time into the extent.
func (x *Extent) Add(at time.Duration) {
	if !x.Any {
		*x = Extent{true, at, at}
	}
	x.First, x.Last = min(x.First, at), max(x.Last, at)
}

// Merge adds another Extent, of a clock that began that much later.
func (x *Extent) Merge(other Extent, later time.Duration) {
	if other.Any {
		x.Add(other.First + later)
		x.Add(other.Last + later)
	}
}
