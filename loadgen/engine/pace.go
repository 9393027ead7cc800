package engine

import (
	"context"
	"time"
)

// A Waiter waits until a point in time, or until ctx ends, and then returns the error of ctx. It
// does not wait for a point in the past.
type Waiter func(ctx context.Context, until time.Time) error

// waiter returns w or, if w is nil, the Waiter of a new pacer. It works until done is called.
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

// Sleep is a Waiter that uses the runtime's timers. They may be a millisecond late, and they work
// with fake time.
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
