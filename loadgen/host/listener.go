package host

import "time"

// A Process is a process of this machine.
type Process struct {
	ID    string // of this start of it; no other process of any machine has the same
	PID   int
	Began time.Time // by the wall clock, to a second or so
}
