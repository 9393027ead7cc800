package engine

import (
	"context"
	"sync"
	"time"
)

// aheadBy is how long before a conversation is due its load's Ahead is called. It is enough to open
// a connection over a long line, with TLS.
const aheadBy = time.Second

// soon is how many conversations of each load's first part are due up to aheadBy after the start,
// as far as they are encoded.
func soon(queues [][]*queue) (all []int) {
	for _, parts := range queues {
		all = append(all, int(parts[0].soon.Load()))
	}
	return all
}

// announce passes on when p is due. It reports whether it could before ctx ended.
func (q *queue) announce(ctx context.Context, p prepared) bool {
	if q.dues == nil || !p.timed {
		return true
	}
	if p.due <= aheadBy {
		q.soon.Add(1)
	}
	select {
	case q.dues <- p.due:
		return true
	case <-ctx.Done():
		return false
	}
}

// lookAhead calls the load's Ahead, if it is set, until stop is called.
func (d *dispatcher) lookAhead(ctx context.Context) (stop func()) {
	if d.load.Ahead == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() {
		for _, q := range d.queues {
			d.callAhead(ctx, q, &group)
		}
	})
	return func() {
		cancel()
		group.Wait()
	}
}

// callAhead calls the load's Ahead for the conversations of one part. Conversations that are due
// soon after the start count, but need no call: Ready knew of them.
func (d *dispatcher) callAhead(ctx context.Context, q *queue, group *sync.WaitGroup) {
	for announced := int64(1); ; announced++ {
		var due time.Duration
		var more bool
		select {
		case due, more = <-q.dues:
		case <-ctx.Done():
		}
		if !more {
			return
		}
		if due <= aheadBy {
			continue
		}
		if Sleep(ctx, d.epoch.Add(due-aheadBy)) != nil {
			return
		}
		waiting := int(announced - q.started.Load())
		group.Go(func() { d.load.Ahead(ctx, waiting) })
	}
}
