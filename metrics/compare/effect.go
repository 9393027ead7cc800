package compare

import (
	"math"
	"strings"
)

// An Effect is the ratio of new to old numbers, minus one: −0.2 if new numbers are 20 %
// smaller. How it is estimated depends on the Design. A number cannot fall by more than all of it,
// so Share is at least −1, and so is a known Low. A change from 0 makes all three infinite.
type Effect struct {
	Share     float64
	Low, High float64 // with 95 % confidence; −Inf and +Inf where the runs are too few
}

// Bounded says that the runs are enough for an interval.
func (e *Effect) Bounded() bool { return e.Low >= -1 }

// Interval is the interval in words, its ends written by percent, such as Percent. It is
// empty where the runs are too few, and for a change from 0.
func (e *Effect) Interval(percent func(share float64) string) string {
	if !e.Bounded() || math.IsInf(e.Low, 1) {
		return ""
	}
	return strings.TrimSuffix(percent(e.Low), " %") + " … " + percent(e.High)
}
