package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sync/semaphore"

	"github.com/servebench/servebench/dataset"
)

// A queue is bounded by the memory of the requests that wait for their due time: their encoded
// bodies, the prompts of their conversations, and about eachBytes more for each.
const (
	aheadBytes = 32 << 20
	eachBytes  = 512
	maxReady   = aheadBytes / eachBytes
)

// A run begins when its queue is full or has all requests. It does not wait longer than primeFor
// for more than enoughReady.
const (
	enoughReady = 8192
	primeFor    = time.Second
)

// A queue holds requests that are ready to send. They are encoded ahead of time, so tokenising and
// encoding delay no start. It is bounded, so a dataset of any length fits.
type queue struct {
	stage
	encode func(c *dataset.Conversation, turn int, said []json.RawMessage) (*Request, error)
	ready  chan prepared
	dues   chan time.Duration  // of all that went into ready and are timed; nil if nobody wants them
	bytes  *semaphore.Weighted // bytes that may still be encoded
	enough context.CancelFunc  // stops fill

	soon    atomic.Int64 // conversations that are due up to aheadBy after the start
	started atomic.Int64 // timed conversations

	primed chan struct{} // closed once the run can begin
	once   sync.Once
	early  error // what ended the source before the run could begin
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

func newQueue(p stage, l *Load) *queue {
	q := &queue{
		stage:  p,
		encode: l.Target.Encode,
		ready:  make(chan prepared, maxReady),
		bytes:  semaphore.NewWeighted(aheadBytes),
		primed: make(chan struct{}),
	}
	if l.Ahead != nil {
		q.dues = make(chan time.Duration, cap(q.ready))
	}
	return q
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
	if q.dues != nil {
		defer close(q.dues)
	}
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
	index, began := -1, time.Now()
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
		first, err := q.encode(conversation, 0, nil)
		if err != nil {
			return fmt.Errorf("encoding request %d: %w", index, err)
		}
		conversation = light(conversation)
		p := prepared{conversation, index, due + q.from, timed, first,
			min(size(conversation)+int64(len(first.Body)), aheadBytes)}
		if !q.put(ctx, p) || !q.announce(ctx, p) {
			return nil
		}
		if len(q.ready) >= enoughReady && time.Since(began) >= primeFor {
			q.prime(nil)
		}
	}
	return nil
}

// light is c without what only its encoded request needs, if that may be large.
func light(c *dataset.Conversation) *dataset.Conversation {
	if len(c.Turns) != 1 || c.Turns[0].Payload == nil {
		return c
	}
	lighter, turn := *c, c.Turns[0]
	turn.Payload, turn.Messages = nil, nil
	lighter.Turns = []dataset.Turn{turn}
	return &lighter
}

// size is about how many bytes c and its first request take, without the body.
func size(c *dataset.Conversation) int64 {
	n, blocks := eachBytes, 0
	for i := range c.Turns {
		t := &c.Turns[i]
		n += len(t.Prompt) + 8*len(t.TokenIDs) + len(t.Messages) + len(t.Answer)
		blocks = max(blocks, len(t.Blocks)) // prompts that extend one another share them
	}
	return int64(n + blocks*int(unsafe.Sizeof(dataset.Block{})))
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
