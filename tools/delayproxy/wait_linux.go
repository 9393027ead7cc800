package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// sleepUntil blocks a thread in the kernel: it wakes some 60 µs late, a timer of Go up to a
// millisecond.
func sleepUntil(t time.Time) {
	for {
		left := time.Until(t)
		if left <= 0 {
			return
		}
		wait := unix.NsecToTimespec(int64(left))
		unix.Nanosleep(&wait, nil) // a signal may end it early
	}
}
