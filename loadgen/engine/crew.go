package engine

import "golang.org/x/sync/errgroup"

// A crew runs conversations on as few goroutines as it can. A goroutine that has run one waits for
// the next, with the stack that it has: to grow one costs a tenth of a short request.
type crew struct {
	group *errgroup.Group
	next  chan func() error // to a goroutine that waits
}

func newCrew(group *errgroup.Group) *crew {
	return &crew{group, make(chan func() error)}
}

// run runs f on a goroutine that waits, or else on a new one.
func (c *crew) run(f func() error) {
	select {
	case c.next <- f:
	default:
		c.group.Go(func() error { return c.work(f) })
	}
}

func (c *crew) work(f func() error) error {
	for ok := true; ok; f, ok = <-c.next {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// dismiss ends the goroutines once they have nothing to do. Nothing may run afterwards.
func (c *crew) dismiss() { close(c.next) }
