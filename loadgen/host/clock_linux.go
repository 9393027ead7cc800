package host

import (
	"time"

	"golang.org/x/sys/unix"
)

// Clock is how far this machine's wall clock is ahead of the reference that the kernel steers it
// by, and the bound of the error of that: adjtimex(2) calls them offset (with the other sign) and
// maxerror. Both are 0 if the kernel knows no reference.
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
