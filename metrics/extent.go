package metrics

import (
	"time"
)

// An extent is the range from the first of some times to the last.
type extent struct {
	any         bool
	first, last time.Duration
}

func (x *extent) add(at time.Duration) {
	if !x.any {
		*x = extent{true, at, at}
	}
	x.first, x.last = min(x.first, at), max(x.last, at)
}

// merge adds another extent, of a clock that began that much later.
func (x *extent) merge(other extent, later time.Duration) {
	if other.any {
		x.add(other.first + later)
		x.add(other.last + later)
	}
}
