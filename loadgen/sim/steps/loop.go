package steps

import (
	"context"
	"slices"
	"time"

	"github.com/servebench/servebench/loadgen/sim/sleep"
	"github.com/servebench/servebench/loadgen/sim/speed"
)

// A Loop is an engine in a goroutine that drives it.
type Loop struct {
	*Engine
	nap   *sleep.Mode
	timer *time.Timer
	quit  chan struct{} // closed to stop it
	done  chan struct{} // closed when it has stopped
}

// Start makes an engine that runs until Close, except while nap says that the server sleeps.
func Start(s Settings, nap *sleep.Mode) *Loop {
	l := &Loop{
		Engine: New(s), nap: nap, timer: time.NewTimer(0),
		quit: make(chan struct{}), done: make(chan struct{}),
	}
	go l.run()
	return l
}

// Close stops the engine, waits for it, and aborts what is in it.
func (l *Loop) Close() {
	first := l.inbox.close()
	if first {
		close(l.quit)
	}
	<-l.done
	if first && l.scheduler.kv.Pool != nil {
		l.scheduler.kv.Pool.Close() // what is wrong with its file has no reader any more
	}
}

// Closed is closed by Close.
func (l *Loop) Closed() <-chan struct{} { return l.quit }

// Wait lets a handler wait until an instant; false means that the context or the engine ended before it.
func (l *Loop) Wait(ctx context.Context, until time.Time) bool {
	left := time.Until(until)
	if left <= 0 {
		return true
	}
	ready := time.NewTimer(left)
	defer ready.Stop()
	select {
	case <-ready.C:
		return true
	case <-ctx.Done():
	case <-l.quit:
	}
	return false
}

// run steps until it is stopped. A step starts when the previous one was due to end, so late timers
// do not add up. Only if the machine falls behind by a whole step is the lost time dropped.
func (l *Loop) run() {
	defer close(l.done)
	defer l.abandon()
	l.Work()
	defer l.Rest()
	start := time.Now()
	for {
		if l.Idle() {
			if !l.await() {
				return
			}
			start = time.Now()
		}
		if !l.rise(&start) || !l.sleep(start.Add(speed.Gather)) {
			return
		}
		b := l.Compose(time.Now())
		if b == (speed.Batch{}) {
			if !l.scheduler.empty() && !l.sleep(time.Now().Add(starved)) {
				return
			}
			start = time.Now()
			continue
		}
		took := l.Took(b, start)
		if !l.sleep(start.Add(took)) {
			return
		}
		now := time.Now()
		l.Deliver(now)
		if start = start.Add(took); now.Sub(start) > took {
			start = now
		}
	}
}

// starved is how long an engine waits that has requests, and no memory for any of them because other
// servers have it.
const starved = time.Millisecond

// rise waits while the server sleeps. The next step then starts when it has woken up. False means that
// the engine must stop.
func (l *Loop) rise(start *time.Time) bool {
	gate := l.nap.Gate()
	select {
	case <-gate:
		return true
	default:
	}
	select {
	case <-gate:
		*start = time.Now()
		return true
	case <-l.quit:
		return false
	}
}

// await waits until something arrives; false means that the engine must stop.
func (l *Loop) await() bool {
	l.Rest()
	defer l.Work()
	select {
	case <-l.inbox.wake:
		return true
	case <-l.quit:
		return false
	}
}

// sleep waits until an instant; false means that the engine must stop.
func (l *Loop) sleep(until time.Time) bool {
	l.timer.Reset(time.Until(until))
	select {
	case <-l.timer.C:
		return true
	case <-l.quit:
		return false
	}
}

// abandon aborts everything when the engine stops.
func (l *Loop) abandon() {
	s := &l.scheduler
	left := slices.Concat(s.running, s.waiting, l.inbox.drain())
	l.stats.left(len(s.running), len(left)-len(s.running))
	s.running, s.waiting = nil, nil
	l.abort(left, time.Now())
}
