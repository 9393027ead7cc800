package steps

import (
	"context"
	"sync"
	"time"
)

// An outlet passes the tokens of a sequence from the engine to the handler. Without a handler, it keeps no
// tokens.
type outlet struct {
	wake chan struct{} // holds one signal: next has something to read; nil if nobody reads

	mu    sync.Mutex
	ready []Output // of steps that next has not returned
	ended string
}

// An Output is what one step made for a sequence.
type Output struct {
	Tokens int
	At     time.Time
}

func newOutlet() outlet { return outlet{wake: make(chan struct{}, 1)} }

// push passes n tokens of a step that ended now to the handler. A non-empty reason ends the sequence
// with them.
func (o *outlet) push(n int, now time.Time, reason string) {
	o.mu.Lock()
	if n > 0 && o.wake != nil {
		o.ready = append(o.ready, Output{n, now})
	}
	o.ended = reason
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// next waits for tokens and returns what each step made since the last call, in buf's memory, and
// why the sequence has ended, empty if it has not.
func (o *outlet) next(ctx context.Context, buf []Output) (steps []Output, ended string, err error) {
	select {
	case <-o.wake:
	case <-ctx.Done():
		return nil, "", ctx.Err()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	steps, o.ready = o.ready, buf[:0]
	return steps, o.ended, nil
}

// finished reports whether the engine is done with the sequence.
func (o *outlet) finished() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ended != ""
}
