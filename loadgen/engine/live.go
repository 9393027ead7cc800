package engine

import (
	"sync/atomic"
	"time"

	"github.com/servebench/servebench/metrics"
)

// Live counts what a load is doing, for display. All methods and fields are safe
// for concurrent use. The zero value is ready.
type Live struct {
	Sent   atomic.Int64 // requests started
	Ended  atomic.Int64 // requests ended, failures included
	Warmed atomic.Int64 // requests of a warm-up that ended
	Failed atomic.Int64 // other requests that failed
	Chunks atomic.Int64 // chunks with choices so far

	answered atomic.Int64 // requests with a first chunk
	silent   atomic.Int64 // requests that ended without one
	ttft     atomic.Int64 // sum over those with one, in nanoseconds
}

// A Count is what a Live, or several, had counted at a moment.
type Count struct {
	Sent, Ended, Warmed, Failed, Chunks int64 // as in Live

	answered, silent, ttft int64
}

// Now is the count so far. A request that ends meanwhile may be in a part of it.
func (l *Live) Now() Count {
	// What comes later in a request is read before what comes earlier, so that no
	// difference is negative.
	c := Count{
		Warmed: l.Warmed.Load(), Failed: l.Failed.Load(), Ended: l.Ended.Load(),
		silent: l.silent.Load(), ttft: l.ttft.Load(), answered: l.answered.Load(), Chunks: l.Chunks.Load(),
	}
	c.Sent = l.Sent.Load()
	return c
}

// Plus is c and other together.
func (c Count) Plus(other Count) Count {
	return Count{
		Sent: c.Sent + other.Sent, Ended: c.Ended + other.Ended, Warmed: c.Warmed + other.Warmed,
		Failed: c.Failed + other.Failed, Chunks: c.Chunks + other.Chunks,
		answered: c.answered + other.answered, silent: c.silent + other.silent, ttft: c.ttft + other.ttft,
	}
}

// InFlight is how many requests have been sent and have not ended.
func (c Count) InFlight() int64 { return c.Sent - c.Ended }

// Waiting is how many of them have no chunk yet.
func (c Count) Waiting() int64 { return c.Sent - c.answered - c.silent }

// MeanTTFT is the mean time to first token over the requests that have one; 0
// before the first.
func (c Count) MeanTTFT() time.Duration {
	if c.answered == 0 {
		return 0
	}
	return time.Duration(c.ttft / c.answered)
}

func (l *Live) first(ttft time.Duration) {
	l.ttft.Add(int64(ttft))
	l.answered.Add(1)
}

func (l *Live) end(rec *metrics.Record) {
	if rec.Chunks.Len() == 0 {
		l.silent.Add(1)
	}
	switch {
	case rec.Phase == metrics.WarmUp:
		l.Warmed.Add(1)
	case rec.Class != metrics.OK:
		l.Failed.Add(1)
	}
	l.Ended.Add(1)
}
