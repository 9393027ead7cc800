package wire

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/servebench/servebench/metrics"
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
}

// A Watch enforces the Timeouts of one request. Bytes that arrive only store a time. The timer
// looks at that time when it fires and sets itself again for the rest, so headers and chunks cost
// no timer call.
type Watch struct {
	limits Timeouts
	start  time.Time
	head   atomic.Int64 // mark of the header's first byte; 0 before it, and after the header's end
	last   atomic.Int64 // mark of the body's newest byte; 0 before the first
	timer  *time.Timer  // for FirstByte and Stall
	cancel context.CancelCauseFunc
	others []*time.Timer
}

// Watch starts the clock of a request. The context that it returns ends when a limit is passed,
// with a metrics.Failure as its cause. The caller must stop the watch.
func (t Timeouts) Watch(ctx context.Context) (context.Context, *Watch) {
	w := &Watch{limits: t, start: time.Now()}
	ctx, w.cancel = context.WithCancelCause(ctx)
	if t.Total > 0 {
		w.after(t.Total, func() *metrics.Failure { return metrics.Failf(metrics.Timeout, "not finished within %v", t.Total) })
	}
	if t.FirstByte > 0 || t.Stall > 0 {
		// The timer must be in its field before it can fire.
		w.timer = time.AfterFunc(time.Hour, w.check)
		w.timer.Stop()
		w.check()
	}
	return ctx, w
}

// after ends the request with a failure unless it ends within d. The failure is made only if
// needed, which is rare.
func (w *Watch) after(d time.Duration, fail func() *metrics.Failure) {
	w.others = append(w.others, time.AfterFunc(d, func() { w.cancel(fail()) }))
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
	class         metrics.Class
	message       string
}

// lapses are the lapses at now. What has not begun counts as 0, so the timer looks often enough to
// see it begin.
func (w *Watch) lapses(now time.Duration) [2]lapse {
	if last := w.last.Load(); last != 0 {
		return [2]lapse{{since(last, now), w.limits.Stall, metrics.Stall, "the stream stalled for %v"}}
	}
	return [2]lapse{
		{now, w.limits.FirstByte, metrics.FirstByte, "no first byte within %v"},
		{since(w.head.Load(), now), w.limits.Stall, metrics.Stall, "the reply's header was still incomplete %v after it began"},
	}
}

// check ends the request if a limit is reached, and otherwise sets the timer for the next limit.
func (w *Watch) check() {
	left := time.Duration(math.MaxInt64)
	for _, l := range w.lapses(time.Since(w.start)) {
		switch {
		case l.limit == 0:
		case l.passed >= l.limit:
			w.cancel(metrics.Failf(l.class, l.message, l.limit))
			return
		default:
			left = min(left, l.limit-l.passed)
		}
	}
	if left < math.MaxInt64 {
		w.timer.Reset(left)
	}
}

// Stop ends the watch. The request is over.
func (w *Watch) Stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
	for _, timer := range w.others {
		timer.Stop()
	}
	w.cancel(nil)
}
