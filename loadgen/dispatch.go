package loadgen

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/servebench/servebench/metrics"
)

// A dispatcher starts one load's conversations, first in, first out: wait until
// due, take a slot, start. It is the only place where a request waits for a
// slot, so there is one goroutine for each request in flight and no more.
type dispatcher struct {
	load     *Load
	queue    *queue
	wait     Waiter // nil: its own pacer
	live     *Live
	slots    chan struct{} // nil without a limit
	epoch    time.Time
	inFlight context.Context // ends when requests are to be cut
	records  chan<- *metrics.Record
	group    *errgroup.Group // of the conversations

	freed time.Duration // when a slot that had to be waited for was last taken
}

func (r *Run) dispatcher(load *Load, q *queue) *dispatcher {
	d := &dispatcher{load: load, queue: q, wait: r.Wait, live: r.Live}
	if d.live == nil {
		d.live = new(Live)
	}
	if load.Concurrency > 0 {
		d.slots = make(chan struct{}, load.Concurrency)
	}
	return d
}

// dispatch starts every conversation, unless ctx ends before.
func (d *dispatcher) dispatch(ctx context.Context) error {
	wait := d.wait
	if wait == nil {
		p, err := newPacer()
		if err != nil {
			return err
		}
		defer p.Close()
		wait = p.Wait
	}
	for p := range d.queue.ready {
		if p.due > 0 {
			if err := d.until(ctx, wait, p.due); err != nil {
				return err
			}
		}
		if !d.take(ctx) {
			return nil
		}
		d.queue.room.Release(p.cost)
		slot := max(p.due, d.freed)
		if !p.timed {
			p.due = slot
		}
		d.group.Go(func() error { return d.converse(ctx, p, slot) })
		// Of requests due together, one is written before the next starts: it is
		// our lag that the others wait, and no part of their TTFT.
		runtime.Gosched()
	}
	if d.load.Lasts > 0 {
		return d.until(ctx, wait, d.load.Delay+d.load.Lasts)
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

// take waits for a slot and reports whether there was one before ctx ended. Only
// a slot that had to be waited for delays a request by the server's doing: where
// one is free and we come late, that is lag.
func (d *dispatcher) take(ctx context.Context) bool {
	if ctx.Err() != nil {
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
		d.freed = time.Since(d.epoch)
		return true
	case <-ctx.Done():
		return false
	}
}

// converse holds one conversation: each turn is sent once the one before has
// been answered, and none after a failure or once ctx has ended.
func (d *dispatcher) converse(ctx context.Context, p prepared, slot time.Duration) error {
	defer func() {
		if d.slots != nil {
			<-d.slots
		}
	}()
	req, due := p.first, p.due
	for turn := range p.Turns {
		if turn > 0 {
			var err error
			if req, err = d.load.Target.Encode(p.Conversation, turn); err != nil {
				return fmt.Errorf("encoding turn %d of request %d: %w", turn, p.index, err)
			}
		}
		rec := &metrics.Record{
			Run: d.load.Run, Target: d.load.Target.Name, ID: req.ID, Index: p.index, Turn: turn,
			Due: due, Slot: slot, InAsked: p.Turns[turn].PromptLen, OutAsked: p.Turns[turn].OutputLen,
		}
		d.live.Sent.Add(1)
		d.load.Target.exchange(d.inFlight, d.epoch, req, exchange{rec, d.live})
		if ctx.Err() != nil {
			rec.Phase = metrics.Drain
		}
		d.live.end(rec)
		failed := rec.Class != metrics.OK
		due, slot = rec.End, rec.End
		d.records <- rec
		if failed || ctx.Err() != nil {
			break
		}
	}
	return nil
}

// exchange is where the parts of an answer go.
type exchange struct {
	rec  *metrics.Record
	live *Live
}

// exchange sends req and fills x.rec with what happened.
func (t *Target) exchange(ctx context.Context, epoch time.Time, req *Request, x exchange) {
	rec := x.rec
	var tokens tokenCount
	rec.Sent = time.Since(epoch)
	for chunk, err := range t.Send(ctx, epoch, req, rec) {
		if err != nil {
			rec.Class, rec.Error = classify(err)
			break
		}
		at := chunk.At.Sub(epoch)
		if rec.Chunks.Len() == 0 {
			x.live.first(at - rec.Sent)
		}
		rec.Chunks.Append(at)
		x.live.Chunks.Add(1)
		if chunk.Content && rec.FirstContent == 0 {
			rec.FirstContent = at
		}
		tokens.add(chunk.Tokens)
	}
	rec.End = time.Since(epoch)
	rec.TokensPerChunk = tokens.perChunk
	t.count(req, rec)
}

// count fills in the token counts that the server did not give.
func (t *Target) count(req *Request, rec *metrics.Record) {
	if rec.In == 0 {
		rec.In = rec.InAsked
	}
	if rec.Out == 0 && rec.Class == metrics.OK {
		rec.Out = 1
		if t.Count != nil {
			rec.Out = t.Count(rec.Text)
		}
	}
	if !req.KeepText {
		rec.Text = ""
	}
}

func classify(err error) (metrics.Class, string) {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Class, f.Error()
	}
	return metrics.Malformed, err.Error()
}

// Once sends one request outside any load: a ready check or a warm-up. The
// Record's times count from the call.
func (t *Target) Once(ctx context.Context, req *Request) *metrics.Record {
	rec := &metrics.Record{ID: req.ID, Phase: metrics.WarmUp}
	t.exchange(ctx, time.Now(), req, exchange{rec, new(Live)})
	return rec
}

// A tokenCount turns the server's running totals into tokens per chunk, and
// keeps nothing as long as each chunk holds one.
type tokenCount struct {
	chunks, total int
	silent        int // chunks before the first total: a chat's role
	perChunk      []int
}

func (c *tokenCount) add(total int) {
	c.chunks++
	if total == 0 && c.total == 0 {
		c.silent++
		return
	}
	n := 0
	if total > 0 {
		n, c.total = total-c.total, total
	}
	if c.perChunk == nil && (n != 1 || c.silent > 0) {
		c.perChunk = make([]int, c.chunks-1, 2*c.chunks)
		for i := c.silent; i < len(c.perChunk); i++ {
			c.perChunk[i] = 1
		}
	}
	if c.perChunk != nil {
		c.perChunk = append(c.perChunk, n)
	}
}
