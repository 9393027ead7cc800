package engine

import (
	"context"
	"time"
)

// A Waiter waits until a point in time, or until ctx ends, whose error it then
// returns. A point in the past does not wait.
type Waiter func(ctx context.Context, until time.Time) error

// waiter is w or, where that is nil, a new pacer's. It is good until done is called.
func waiter(w Waiter) (_ Waiter, done func() error, err error) {
	if w != nil {
		return w, func() error { return nil }, nil
	}
	p, err := newPacer()
	if err != nil {
		return nil, nil, err
	}
	return p.Wait, p.Close, nil
}

// Sleep is a Waiter made of the runtime's timers. They may be a millisecond
// late, and they know fake time.
func Sleep(ctx context.Context, until time.Time) error {
	d := time.Until(until)
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
