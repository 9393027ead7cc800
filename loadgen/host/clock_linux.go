package host

import (
	"time"

	"golang.org/x/sys/unix"
)

// Clock is by how much this machine's wall clock is ahead of the one that the kernel
// steers it by, and by how much that may be wrong: what adjtimex(2) calls offset,
// which is what has to be added to the clock, and maxerror. Both are 0 where the
// kernel knows of no other clock.
func Clock() (offset, bound time.Duration) {
	var t unix.Timex
	if _, err := unix.Adjtimex(&t); err != nil {
		return 0, 0
	}
	return clock(&t)
}

func clock(t *unix.Timex) (offset, bound time.Duration) {
	if t.Status&unix.STA_UNSYNC != 0 {
		return 0, 0
	}
	unit := time.Microsecond
	if t.Status&unix.STA_NANO != 0 {
		unit = time.Nanosecond
	}
	return -time.Duration(t.Offset) * unit, time.Duration(t.Maxerror) * time.Microsecond
}
