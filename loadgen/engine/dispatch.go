package engine

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/servebench/servebench/metrics/record"
)

// A dispatcher starts one load's conversations, first in, first out: it waits until one is due,
// takes a slot and starts it. Only the dispatcher waits for slots, so there are no more goroutines
// than requests were in flight at once.
type dispatcher struct {
	load     *Load
	queues   []*queue // one for each part
	wait     Waiter   // nil for a separate pacer
	live     *Live
	slots    *slots // of requests; nil without a limit
	later    *followUps
	ahead    *semaphore.Weighted // bytes of later turns, encoded before they wait for nothing
	epoch    time.Time
	inFlight context.Context         // ends when requests are cut
	cut      context.CancelCauseFunc // ends it
	records  chan<- *record.Record
	crew     *crew // runs the conversations

	sessions   gate // of session slots
	firstTurns gate // of slots
	laterTurns gate
}

func (r *Run) dispatcher(load *Load, queues []*queue, epoch time.Time) *dispatcher {
	d := &dispatcher{load: load, queues: queues, wait: r.Wait, live: load.Live, epoch: epoch}
	if d.live == nil {
		d.live = new(Live)
	}
	d.slots = newSlots(load.Concurrency, load.Breadth)
	d.sessions = gate{slots: newSlots(load.Sessions, false), rank: firstTurn, epoch: epoch}
	d.firstTurns = gate{slots: d.slots, rank: firstTurn, epoch: epoch}
	d.laterTurns = gate{slots: d.slots, rank: laterTurn, epoch: epoch}
	d.later, d.ahead = newFollowUps(), semaphore.NewWeighted(aheadBytes)
	return d
}

// dispatch starts every conversation, and each of its turns, unless ctx ends earlier.
func (d *dispatcher) dispatch(ctx context.Context) error {
	defer d.crew.dismiss()
	wait, done, err := waiter(d.wait)
	if err != nil {
		return err
	}
	defer done()
	defer (&scout{d.load.Ahead, d.queues, d.epoch}).start(ctx)()
	over := make(chan struct{})
	defer func() { <-over }()
	going, stop := context.WithCancel(ctx)
	defer stop()
	d.crew.group.Go(func() error {
		defer close(over)
		return d.goOn(going)
	})
	for _, q := range d.queues {
		if err := d.drain(ctx, wait, q); err != nil {
			return err
		}
	}
	d.later.change(func() { d.later.closed = true })
	d.limitDrain(ctx)
	<-over
	if last := d.queues[len(d.queues)-1]; last.lasts > 0 {
		return d.until(ctx, wait, last.from+last.lasts)
	}
	return nil
}

// limitDrain cuts what is in flight after the load's DrainLimit.
func (d *dispatcher) limitDrain(ctx context.Context) {
	limit := d.load.DrainLimit
	if limit <= 0 || ctx.Err() != nil {
		return
	}
	timer := time.AfterFunc(limit, func() {
		d.cut(record.Failf(record.Overdue, "not finished %v after the last request was sent", limit))
	})
	context.AfterFunc(d.inFlight, func() { timer.Stop() })
}

// drain starts the conversations of one part until the part is over.
func (d *dispatcher) drain(ctx context.Context, wait Waiter, q *queue) error {
	defer q.enough()
	var over <-chan time.Time
	if q.stop > 0 {
		timer := time.NewTimer(time.Until(d.epoch.Add(q.stop)))
		defer timer.Stop()
		over = timer.C
	}
	for p, ok := q.next(over); ok; p, ok = q.next(over) {
		if p.due > 0 {
			if err := d.until(ctx, wait, p.due); err != nil {
				return err
			}
		}
		at, ok := d.place(ctx, p, &q.stage, over)
		if !ok {
			return nil
		}
		q.bytes.Release(p.cost)
		if p.timed {
			q.started.Add(1)
		} else {
			p.due = at.slot
		}
		d.start(ctx, p, at)
		// Write each request before the next one starts, if several are due together: the wait is
		// then lag, not part of their TTFT.
		runtime.Gosched()
	}
	return nil
}

// start starts a conversation.
func (d *dispatcher) start(ctx context.Context, p prepared, at start) {
	d.live.Sessions.Add(1)
	if len(p.Turns) == 1 && d.load.Reusable == nil {
		d.crew.run(func() error { d.only(ctx, p, at); return nil })
		return
	}
	s := d.begin(p, at)
	roots := s.roots()
	s.pass(len(roots))
	d.later.change(func() { d.later.open++ })
	for _, turn := range roots {
		if turn > 0 || s.Turns[0].Gap > 0 {
			d.later.push(d.followUp(s, turn))
		}
	}
	if s.Turns[0].Gap > 0 {
		d.slots.release(at.slot)
		return
	}
	d.crew.run(func() error { return d.turn(ctx, s, 0, p.due, at.slot) })
}

// until waits for an instant of the run, or for ctx to end.
func (d *dispatcher) until(ctx context.Context, wait Waiter, at time.Duration) error {
	if err := wait(ctx, d.epoch.Add(at)); err != nil && ctx.Err() == nil {
		return fmt.Errorf("waiting for a due time: %w", err)
	}
	return nil
}

func (d *dispatcher) now() time.Duration { return time.Since(d.epoch) }

// place waits for a session slot, and then for a slot for its first request. It is not ok if
// ctx or the part ends before.
func (d *dispatcher) place(ctx context.Context, p prepared, of *stage, over <-chan time.Time) (at start, ok bool) {
	if !d.sessions.take(ctx, of, over) {
		return at, false
	}
	if !d.firstTurns.take(ctx, of, over) {
		d.sessions.slots.release(d.now())
		return at, false
	}
	sessionSlot := max(p.due, d.sessions.freed)
	return start{of, sessionSlot, max(sessionSlot, d.firstTurns.freed)}, true
}

// A start says how a conversation started.
type start struct {
	stage       *stage
	sessionSlot time.Duration // when it got its session slot
	slot        time.Duration // when its first request got its slot
}

// only runs a conversation of one turn.
func (d *dispatcher) only(ctx context.Context, p prepared, at start) {
	rec := d.send(ctx, p.first, &record.Record{
		Index: p.index, Phase: at.stage.phase, Times: record.Times{Due: p.due, Slot: at.slot},
		Tokens: record.Tokens{InAsked: p.Turns[0].PromptLen,
			OutAsked: p.Turns[0].OutputLen},
	})
	d.live.over(at.stage.phase)
	d.records <- rec
	now := d.now()
	d.slots.release(now)
	d.sessions.slots.release(now)
}

// send sends a request and completes its record.
func (d *dispatcher) send(ctx context.Context, req *Request, rec *record.Record) *record.Record {
	rec.Run, rec.Target, rec.ID = d.load.Run, d.load.Target.Name, req.ID
	req.Once = d.load.Target.Retry.Times <= 0
	d.live.Sent.Add(1)
	d.load.Target.exchange(d.inFlight, d.epoch, req, exchange{rec: rec, live: d.live, going: ctx})
	if ctx.Err() != nil && rec.Phase == record.Main {
		rec.Phase = record.Drain
	}
	d.live.end(rec)
	return rec
}
