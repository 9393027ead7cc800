package metrics

import (
	"time"
)

// Ramp is the burst that opens a run whose requests are all due at once.
type Ramp struct {
	Requests int           // that waited for no slot
	Took     time.Duration // until the last of them was sent
}

// Held is how long completed requests held their slot after their last chunk. By Little's law it is
// the difference between the requests in flight by our count, the sum of End − Sent, and throughput
// × mean E2EL.
type Held struct {
	Mean  time.Duration // a request
	Share float64       // of E2EL
	// Unread is the part of Mean in which the last chunk may have waited in the socket: it may be
	// our own delay.
	Unread time.Duration
}

// Pace compares the time over which requests were sent with the time over which they were due.
type Pace struct {
	Requests int
	Due      time.Duration // from the first to the last
	Sent     time.Duration // likewise
	Queue    time.Duration // over all requests: why they were late
	Lag      time.Duration // likewise
}

// The tolerance within which a rate counts as kept. An open loop that does not reach its rate has
// become a closed loop. Runs of a fraction of a second may be 20 ms late.
const (
	rateLimit    = 95.0 // % of the requested rate
	rateForgiven = 20 * time.Millisecond
)

// Kept is how much of the requested rate was achieved, and the least that counts as keeping it,
// both in percent. Both mean nothing if Due or Sent is 0.
func (p Pace) Kept() (achieved, least float64) {
	part := func(of time.Duration) float64 { return float64(p.Due) / float64(of) * 100 }
	return part(p.Sent), min(rateLimit, part(p.Due+rateForgiven))
}

// MeanQueue is how long a request waited for a slot, on average.
func (p Pace) MeanQueue() time.Duration { return Share(p.Queue, p.Requests) }

// MeanLag is how late the load generator sent a request, on average.
func (p Pace) MeanLag() time.Duration { return Share(p.Lag, p.Requests) }

// HeldBack reports that requests waited for slots because the server did not keep up: this explains
// a rate that was not achieved.
func (t *Truth) HeldBack() bool { return t.Pace.Queue > t.Pace.Lag && t.Backlog.grows() }

// Asked is the requested rate in requests a second, 0 without one.
func (p Pace) Asked() float64 { return perSecond(p.Requests-1, p.Due) }

// Achieved is the achieved rate in requests a second, 0 without one.
func (p Pace) Achieved() float64 { return perSecond(p.Requests-1, p.Sent) }

func perSecond(n int, d time.Duration) float64 {
	if n <= 0 || d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}
