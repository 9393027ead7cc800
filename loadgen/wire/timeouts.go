package wire

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

// The default limits on a request. vLLM's client has only the total.
const (
	DefaultStallTimeout = 5 * time.Minute
	DefaultTotalTimeout = 6 * time.Hour
)

// Timeouts are limits on one request. 0 means no limit.
type Timeouts struct {
	// FirstByte limits the time from sending to the first byte of the reply's body. The header does
	// not count: vLLM sends it at once, even if the request then waits in a queue.
	FirstByte time.Duration
	// Stall limits the time without a byte after the first one (comments count as bytes), and the
	// time from the first byte of a header to its end.
	Stall time.Duration
	// Total limits the request from sending to the end of the reply.
	Total time.Duration
	// Linger limits the time from the last event of a stream to the end of the reply; see
	// Body.Ending.
	Linger time.Duration
}

// A Watch enforces the Timeouts of one request. Bytes that arrive only store a time. The timer
// looks at that time when it fires and sets itself again for the rest, so headers and chunks cost
// no timer call.
type Watch struct {
	limits Timeouts
	start  time.Time
	head   atomic.Int64 // mark of the header's first byte; 0 before it, and after the header's end
	last   atomic.Int64 // mark of the body's newest byte; 0 before the first
	ending atomic.Int64 // mark of the last event; 0 before it
	timer  *time.Timer  // nil without limits
	mu     sync.Mutex   // one check at a time
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// Watch starts the clock of a request. The context that it returns ends when a limit is passed,
// with a record.Failure as its cause. The caller must stop the watch.
func (t Timeouts) Watch(ctx context.Context) (context.Context, *Watch) {
	w := &Watch{limits: t, start: time.Now()}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	if t.Total > 0 || t.FirstByte > 0 || t.Stall > 0 || t.Linger > 0 {
		// The timer must be in its field before it can fire.
		w.timer = time.AfterFunc(time.Hour, w.check)
		w.timer.Stop()
		w.check()
	}
	return w.ctx, w
}

// over is why the request has to end now: a limit, or the end of what it is part of. It is nil if
// it may go on. It takes a few nanoseconds.
func (w *Watch) over() error {
	if w.ctx.Err() == nil {
		return nil
	}
	return context.Cause(w.ctx)
}

// begun tells w that the header's first byte arrived.
func (w *Watch) begun() { w.head.Store(w.mark(time.Now())) }

// Headed tells w that the reply's header is complete.
func (w *Watch) Headed() { w.head.Store(0) }

// touch tells w that bytes of the body arrived.
func (w *Watch) touch(at time.Time) { w.last.Store(w.mark(at)) }

// mark is an instant as time after start, plus 1 ns.
func (w *Watch) mark(at time.Time) int64 { return int64(at.Sub(w.start)) + 1 }

// since is the time from mark to now, 0 if there is no mark.
func since(mark int64, now time.Duration) time.Duration {
	if mark == 0 {
		return 0
	}
	return now - time.Duration(mark-1)
}

// A lapse is a time that has passed, and its limit; 0 means no limit.
type lapse struct {
	passed, limit time.Duration
	class         record.Class
	message       string
}

// lapses are the lapses at now. What has not begun counts as 0, so the timer looks often enough to
// see it begin.
func (w *Watch) lapses(now time.Duration) [4]lapse {
	lapses := [4]lapse{{now, w.limits.Total, record.Timeout, "not finished within %v"}}
	if ending := w.ending.Load(); ending != 0 {
		lapses[1] = lapse{since(ending, now), w.limits.Linger, record.Stall, "no end within %v after the last event"}
	}
	if last := w.last.Load(); last != 0 {
		lapses[2] = lapse{since(last, now), w.limits.Stall, record.Stall, "the stream stalled for %v"}
		return lapses
	}
	lapses[2] = lapse{now, w.limits.FirstByte, record.FirstByte, "no first byte within %v"}
	lapses[3] = lapse{since(w.head.Load(), now), w.limits.Stall, record.Stall,
		"the reply's header was still incomplete %v after it began"}
	return lapses
}

// check ends the request if a limit is reached, and otherwise sets the timer for the next limit.
func (w *Watch) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := time.Duration(math.MaxInt64)
	for _, l := range w.lapses(time.Since(w.start)) {
		switch {
		case l.limit == 0:
		case l.passed >= l.limit:
			w.cancel(record.Failf(l.class, l.message, l.limit))
			return
		default:
			left = min(left, l.limit-l.passed)
		}
	}
	if left < math.MaxInt64 {
		w.timer.Reset(left)
	}
}

// end tells w that the last event has arrived. Only the first call counts: a server may repeat that
// event for ever.
func (w *Watch) end() {
	if w.ending.CompareAndSwap(0, w.mark(time.Now())) && w.limits.Linger > 0 {
		w.check()
	}
}

// Stop ends the watch. The request is over.
func (w *Watch) Stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
	w.cancel(nil)
}
