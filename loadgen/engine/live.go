package engine

import (
	"sync/atomic"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

// Live counts what a load is doing, for display. All methods and fields are safe for concurrent
// use. The zero value is ready.
type Live struct {
	Sent   atomic.Int64 // requests started
	Ended  atomic.Int64 // requests ended, failures included
	Warmed atomic.Int64 // warm-up requests that ended
	Failed atomic.Int64 // measured requests that failed
	Chunks atomic.Int64 // chunks with choices so far

	Sessions       atomic.Int64 // conversations begun
	SessionsOver   atomic.Int64 // conversations that are over
	SessionsWarmed atomic.Int64 // of these, conversations that began in the warm-up

	answered atomic.Int64 // requests with a first chunk
	silent   atomic.Int64 // requests that ended without a chunk
	ttft     atomic.Int64 // sum over requests with a first chunk, in nanoseconds
}

// A Count is the state of a Live, or the sum of several, at one moment.
type Count struct {
	Sent, Ended, Warmed, Failed, Chunks    int64 // as in Live
	Sessions, SessionsOver, SessionsWarmed int64 // likewise

	answered, silent, ttft int64
}

// Now is the count so far. A request that ends during the call may be in only some of the numbers.
func (l *Live) Now() Count {
	// Read late stages of a request before early ones, so that no more have ended than were sent.
	// A warm-up is counted in Warmed before Ended: read in the other order, it would seem to be a
	// measured request that ended.
	c := Count{
		Failed: l.Failed.Load(), Ended: l.Ended.Load(), Warmed: l.Warmed.Load(),
		silent: l.silent.Load(), ttft: l.ttft.Load(), answered: l.answered.Load(), Chunks: l.Chunks.Load(),
		SessionsOver: l.SessionsOver.Load(), SessionsWarmed: l.SessionsWarmed.Load(),
	}
	c.Sent, c.Sessions = l.Sent.Load(), l.Sessions.Load()
	return c
}

// Plus is the sum of c and other.
func (c Count) Plus(other Count) Count {
	return Count{
		Sent: c.Sent + other.Sent, Ended: c.Ended + other.Ended, Warmed: c.Warmed + other.Warmed,
		Failed: c.Failed + other.Failed, Chunks: c.Chunks + other.Chunks,
		Sessions: c.Sessions + other.Sessions, SessionsOver: c.SessionsOver + other.SessionsOver,
		SessionsWarmed: c.SessionsWarmed + other.SessionsWarmed,
		answered:       c.answered + other.answered, silent: c.silent + other.silent, ttft: c.ttft + other.ttft,
	}
}

// InFlight is the number of requests that have been sent and have not ended.
func (c Count) InFlight() int64 { return c.Sent - c.Ended }

// Waiting is the number of requests in flight that have no chunk yet.
func (c Count) Waiting() int64 { return c.Sent - c.answered - c.silent }

// Mute is how many requests have been sent. It is over once one of them has a chunk or has ended.
func (c Count) Mute() (sent int64, over bool) { return c.Sent, c.answered > 0 || c.Ended > 0 }

// SessionsRunning is the number of conversations that have begun and are not over.
func (c Count) SessionsRunning() int64 { return c.Sessions - c.SessionsOver }

// LaterTurns reports that some conversation has gone on after its first request.
func (c Count) LaterTurns() bool { return c.Sent > c.Sessions }

// MeanTTFT is the mean time to first token of the requests that have a first token; 0 before the
// first.
func (c Count) MeanTTFT() time.Duration {
	if c.answered == 0 {
		return 0
	}
	return time.Duration(c.ttft / c.answered)
}

// over counts a conversation that began in a phase and is over.
func (l *Live) over(began record.Phase) {
	if began == record.WarmUp {
		l.SessionsWarmed.Add(1)
	}
	l.SessionsOver.Add(1)
}

func (l *Live) first(ttft time.Duration) {
	l.ttft.Add(int64(ttft))
	l.answered.Add(1)
}

func (l *Live) end(rec *record.Record) {
	if rec.Answer.Chunks.Len() == 0 || rec.Answer.Unstreamed {
		l.silent.Add(1)
	}
	switch {
	case rec.Phase == record.WarmUp:
		l.Warmed.Add(1)
	case rec.Result.Class != record.OK:
		l.Failed.Add(1)
	}
	l.Ended.Add(1)
}
