package metrics

import (
	"time"
)

// A Wake is how a server slept and woke up before the load, by vLLM's sleep mode.
type Wake struct {
	Level int `json:"level"` // 1 keeps the weights in the host's memory, 2 drops them
	// Sleep is how long the call took that put it to sleep.
	Sleep time.Duration `json:"sleep"`
	// Ready is the time from the first call that woke it up until it said that it does not sleep, and
	// FirstToken from that call until the first chunk of the next request, sent right after.
	Ready      time.Duration `json:"ready"`
	FirstToken time.Duration `json:"first_token"`
	// Unproven says that nothing but the answers to the calls shows that the server slept: one that
	// ignores them answers as well.
	Unproven bool `json:"unproven,omitempty"`
}

// A ServerStart is one start of a server. Runs on the same start share its process, with its caches,
// its clocks and its memory.
type ServerStart struct {
	// ID is the same for all runs on one start, and for no others.
	ID string `json:"id"`
	// By says how the start is known: sweep, process_start_time_seconds, _created or listener.
	By string `json:"by"`
	// Began is when the process started, by the wall clock; zero if unknown.
	Began time.Time `json:"began,omitzero"`
	// PID is its process id on the machine of the load generator; 0 if unknown.
	PID int `json:"pid,omitempty"`
	// Version is the version of the server program, as the server says; empty if unknown.
	Version string `json:"version,omitempty"`
}
