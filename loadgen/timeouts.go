package loadgen

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/servebench/servebench/metrics"
)

// The limits on a request that a run has unless it is told otherwise. vLLM's
// client has the total alone.
const (
	DefaultStallTimeout = 5 * time.Minute
	DefaultTotalTimeout = 6 * time.Hour
)

// Timeouts are limits on one request. 0 means none.
type Timeouts struct {
	// FirstByte limits the time from sending to the first byte of the
	// reply's body. Its header does not count: vLLM sends that at once,
	// however long the request then waits for its turn.
	FirstByte time.Duration
	// Stall limits the time without a byte after the first one. Comments
	// count as bytes.
	Stall time.Duration
	// Total limits the request from sending to the end of the reply.
	Total time.Duration
}

// A watch holds one request to its Timeouts. Bytes that come only store a time:
// the timer looks at it when it fires and sets itself again for what is left, so
// that a chunk costs no timer call.
type watch struct {
	limits Timeouts
	start  time.Time
	last   atomic.Int64 // the newest byte's time after start, and 1 ns; 0 before the first
	timer  *time.Timer  // for FirstByte, then for Stall
	cancel context.CancelCauseFunc
	others []*time.Timer
}

// watch starts the clock. The context that it gives ends when a limit is
// passed, with a *Failure as its cause. Stop must be called.
func (t Timeouts) watch(ctx context.Context) (context.Context, *watch) {
	w := &watch{limits: t, start: time.Now()}
	ctx, w.cancel = context.WithCancelCause(ctx)
	if t.Total > 0 {
		w.after(t.Total, func() *Failure { return failure(metrics.Timeout, "not finished within %v", t.Total) })
	}
	if t.FirstByte > 0 || t.Stall > 0 {
		// The timer must be in its field before it can fire.
		w.timer = time.AfterFunc(time.Hour, w.check)
		if w.timer.Stop(); t.FirstByte > 0 {
			w.timer.Reset(t.FirstByte)
		}
	}
	return ctx, w
}

// after ends the request with a failure unless it stops within d. Few do not, so
// that the failure is made only then.
func (w *watch) after(d time.Duration, fail func() *Failure) {
	w.others = append(w.others, time.AfterFunc(d, func() { w.cancel(fail()) }))
}

// touch says that bytes of the body came.
func (w *watch) touch(at time.Time) {
	first := w.last.Swap(int64(at.Sub(w.start))+1) == 0
	if first && w.limits.Stall > 0 {
		w.timer.Reset(w.limits.Stall)
	}
}

// check runs when the timer fires.
func (w *watch) check() {
	last := time.Duration(w.last.Load())
	if last == 0 {
		w.cancel(failure(metrics.FirstByte, "no first byte within %v", w.limits.FirstByte))
		return
	}
	if w.limits.Stall == 0 {
		return // the first byte came in time
	}
	if quiet := time.Since(w.start) - (last - 1); quiet < w.limits.Stall {
		w.timer.Reset(w.limits.Stall - quiet)
		return
	}
	w.cancel(failure(metrics.Stall, "the stream stood still for %v", w.limits.Stall))
}

func (w *watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
	for _, timer := range w.others {
		timer.Stop()
	}
	w.cancel(nil)
}
