package engine

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/servebench/servebench/dataset"
)

// aheadBytes bounds the encoded bodies that wait for their due time.
const aheadBytes = 32 << 20

// A queue holds requests that are ready to send. They are encoded ahead of time, so tokenising and
// encoding delay no start. It is bounded, so a dataset of any length fits.
type queue struct {
	part
	encode func(c *dataset.Conversation, turn int) (*Request, error)
	ready  chan prepared
	bytes  *semaphore.Weighted // bytes of bodies that may still be encoded
	enough context.CancelFunc  // stops fill

	primed chan struct{} // closed once the queue is full or the source at its end
	once   sync.Once
	early  error // what ended the source before the queue was full
}

// A prepared conversation has its first request encoded.
type prepared struct {
	*dataset.Conversation
	index int
	due   time.Duration
	timed bool // due came from a schedule or the dataset
	first *Request
	cost  int64
}

func newQueue(p part, t *Target) *queue {
	return &queue{
		part:   p,
		encode: t.Encode,
		ready:  make(chan prepared, 8192),
		bytes:  semaphore.NewWeighted(aheadBytes),
		primed: make(chan struct{}),
	}
}

// prime notes that the queue has enough to begin, or why it never will.
func (q *queue) prime(err error) {
	q.once.Do(func() {
		q.early = err
		close(q.primed)
	})
}

// fill encodes the part's conversations that belong to this shard, until the source, the schedule
// or ctx ends.
func (q *queue) fill(ctx context.Context) error {
	defer close(q.ready)
	err := q.pull(ctx)
	q.prime(err)
	return err
}

func (q *queue) pull(ctx context.Context) error {
	next := func() (time.Duration, bool) { return 0, true }
	if q.schedule != nil {
		var stop func()
		next, stop = iter.Pull(q.schedule)
		defer stop()
	}
	index := -1
	for conversation, err := range q.source {
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("dataset: %w", err)
		}
		index++
		due, ok := next()
		if !ok {
			return nil
		}
		timed := q.schedule != nil
		if conversation.Due != nil {
			due, timed = dataset.Seconds(*conversation.Due), true
		}
		if q.over(due + q.from) {
			return nil
		}
		if !q.shard.Has(index) {
			continue
		}
		first, err := q.encode(conversation, 0)
		if err != nil {
			return fmt.Errorf("encoding request %d: %w", index, err)
		}
		p := prepared{conversation, index, due + q.from, timed, first, int64(min(len(first.Body), aheadBytes))}
		if !q.put(ctx, p) {
			return nil
		}
	}
	return nil
}

// next is the next conversation. It is not ok if there are no more, or if over fires first.
func (q *queue) next(over <-chan time.Time) (p prepared, ok bool) {
	select {
	case p, ok = <-q.ready:
	case <-over:
	}
	return p, ok
}

// put waits until p fits, and reports whether it did before ctx ended.
func (q *queue) put(ctx context.Context, p prepared) bool {
	if ctx.Err() != nil {
		return false
	}
	if !q.bytes.TryAcquire(p.cost) {
		q.prime(nil)
		if q.bytes.Acquire(ctx, p.cost) != nil {
			return false
		}
	}
	select {
	case q.ready <- p:
		return true
	default:
	}
	q.prime(nil)
	select {
	case q.ready <- p:
		return true
	case <-ctx.Done():
		return false
	}
}
