package host

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A positive offset is to be added to the clock, which is behind by that: NTP_PLL in
// adjtimex(2), kernel/time/ntp.c.
func TestClockIsAheadByWhatTheKernelTakesAway(t *testing.T) {
	for _, row := range []struct {
		name          string
		kernel        unix.Timex
		offset, bound time.Duration
	}{
		{"behind, in microseconds", unix.Timex{Offset: 300, Maxerror: 2100}, -300 * time.Microsecond, 2100 * time.Microsecond},
		{"ahead, in nanoseconds", unix.Timex{Status: unix.STA_NANO | unix.STA_PLL, Offset: -4567, Maxerror: 9}, 4567, 9 * time.Microsecond},
		{"not synchronised", unix.Timex{Status: unix.STA_UNSYNC, Offset: 300, Maxerror: 16_000_000}, 0, 0},
	} {
		if offset, bound := clock(&row.kernel); offset != row.offset || bound != row.bound {
			t.Errorf("%s: %v, known to %v; want %v, %v", row.name, offset, bound, row.offset, row.bound)
		}
	}
}

func TestClockAsksTheKernel(t *testing.T) {
	var kernel unix.Timex
	_, err := unix.Adjtimex(&kernel)
	_, bound := Clock()
	if known := err == nil && kernel.Status&unix.STA_UNSYNC == 0 && kernel.Maxerror > 0; known != (bound > 0) {
		t.Errorf("the error is at most %v, and the kernel says %v, %+v", bound, err, kernel)
	}
}
