package engine

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/servebench/servebench/metrics"
)

// A dispatcher starts one load's conversations, first in, first out: it waits until one is due,
// takes a slot and starts it. Only the dispatcher waits for slots, so there are no more goroutines
// than requests were in flight at once.
type dispatcher struct {
	load     *Load
	queues   []*queue // one for each part
	wait     Waiter   // nil for a separate pacer
	live     *Live
	slots    chan struct{} // nil without a limit
	epoch    time.Time
	inFlight context.Context         // ends when requests are cut
	cut      context.CancelCauseFunc // ends it
	records  chan<- *metrics.Record
	crew     *crew // runs the conversations

	freed time.Duration // when a slot that was not free was last taken
}

func (r *Run) dispatcher(load *Load, queues []*queue) *dispatcher {
	d := &dispatcher{load: load, queues: queues, wait: r.Wait, live: load.Live}
	if d.live == nil {
		d.live = new(Live)
	}
	if load.Concurrency > 0 {
		d.slots = make(chan struct{}, load.Concurrency)
	}
	return d
}

// dispatch starts every conversation, unless ctx ends earlier.
func (d *dispatcher) dispatch(ctx context.Context) error {
	defer d.crew.dismiss()
	wait, done, err := waiter(d.wait)
	if err != nil {
		return err
	}
	defer done()
	defer d.lookAhead(ctx)()
	for _, q := range d.queues {
		if err := d.drain(ctx, wait, q); err != nil {
			return err
		}
	}
	d.limitDrain(ctx)
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
		d.cut(metrics.Failf(metrics.Overdue, "not finished %v after the last request was sent", limit))
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
		if !d.take(ctx, &q.part, over) {
			return nil
		}
		q.bytes.Release(p.cost)
		slot := max(p.due, d.freed)
		if p.timed {
			q.started.Add(1)
		} else {
			p.due = slot
		}
		d.crew.run(func() error { return d.converse(ctx, p, start{&q.part, slot}) })
		// Write each request before the next one starts, if several are due together: the wait is
		// then lag, not part of their TTFT.
		runtime.Gosched()
	}
	return nil
}

// until waits for an instant of the run, or for ctx to end.
func (d *dispatcher) until(ctx context.Context, wait Waiter, at time.Duration) error {
	if err := wait(ctx, d.epoch.Add(at)); err != nil && ctx.Err() == nil {
		return fmt.Errorf("waiting for a due time: %w", err)
	}
	return nil
}

func (d *dispatcher) now() time.Duration { return time.Since(d.epoch) }

// take waits for a slot and reports whether it got one before ctx or the part ended. Waiting for a
// slot is a delay by the server. If a slot is free and we are late, the delay is lag.
func (d *dispatcher) take(ctx context.Context, of *part, over <-chan time.Time) bool {
	if ctx.Err() != nil || of.over(d.now()) {
		return false
	}
	if d.slots == nil {
		return true
	}
	select {
	case d.slots <- struct{}{}:
		return true
	default:
	}
	select {
	case d.slots <- struct{}{}:
		freed := d.now()
		if of.over(freed) {
			<-d.slots // leave the slot to the next part
			return false
		}
		d.freed = freed
		return true
	case <-over:
		return false
	case <-ctx.Done():
		return false
	}
}

// start says how a conversation started.
type start struct {
	part *part
	slot time.Duration // when it got its slot
}

// converse runs one conversation. It sends each turn after the answer to the previous turn, and
// stops after a failure, when ctx ends, when requests are cut, or when the part is over.
func (d *dispatcher) converse(ctx context.Context, p prepared, s start) error {
	defer func() {
		if d.slots != nil {
			<-d.slots
		}
	}()
	req, due, slot := p.first, p.due, s.slot
	for turn := range p.Turns {
		if turn > 0 {
			var err error
			if req, err = d.load.Target.Encode(p.Conversation, turn); err != nil {
				return fmt.Errorf("encoding turn %d of request %d: %w", turn, p.index, err)
			}
		}
		rec := &metrics.Record{
			Run: d.load.Run, Target: d.load.Target.Name, ID: req.ID, Index: p.index, Turn: turn, Phase: s.part.phase,
			Due: due, Slot: slot, InAsked: p.Turns[turn].PromptLen, OutAsked: p.Turns[turn].OutputLen,
		}
		d.live.Sent.Add(1)
		d.load.Target.exchange(d.inFlight, d.epoch, req, exchange{rec: rec, live: d.live, going: ctx})
		if ctx.Err() != nil && rec.Phase == metrics.Main {
			rec.Phase = metrics.Drain
		}
		d.live.end(rec)
		failed := rec.Class != metrics.OK
		due, slot = rec.End, rec.End
		d.records <- rec
		if failed || ctx.Err() != nil || d.inFlight.Err() != nil || s.part.over(due) {
			break
		}
	}
	return nil
}
