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

// A scout calls a load's Ahead before conversations are due.
type scout struct {
	ahead  func(ctx context.Context, waiting int) // may be nil
	queues []*queue                               // one for each part
	epoch  time.Time
}

// start calls Ahead until stop is called.
func (s *scout) start(ctx context.Context) (stop func()) {
	if s.ahead == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() {
		for _, q := range s.queues {
			s.part(ctx, q, &group)
		}
	})
	return func() {
		cancel()
		group.Wait()
	}
}

// part calls Ahead for the conversations of one part. Conversations that are due
// soon after the start count, but need no call: Ready knew of them.
func (s *scout) part(ctx context.Context, q *queue, group *sync.WaitGroup) {
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
		if Sleep(ctx, s.epoch.Add(due-aheadBy)) != nil {
			return
		}
		waiting := int(announced - q.started.Load())
		group.Go(func() { s.ahead(ctx, waiting) })
	}
}
