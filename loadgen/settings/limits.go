package settings

import "time"

// Limits are limits of time; 0 means no limit.
type Limits struct {
	// Connect bounds opening a connection, TLS included.
	Connect time.Duration

	// FirstByte bounds the time from sending a request to the first byte of its answer.
	FirstByte time.Duration

	// Stall bounds the time between two chunks.
	Stall time.Duration

	// Total bounds one request from start to end.
	Total time.Duration

	// Tail bounds requests in flight after the last was sent.
	Tail time.Duration

	// Deadline bounds the whole run, from the start of the clock.
	Deadline time.Duration

	// Drain bounds requests in flight when the run is interrupted.
	Drain time.Duration

	// Call bounds a call that is not part of the load; 0 means ten seconds.
	Call time.Duration
}
