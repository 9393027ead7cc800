package engine

import (
	"context"
	"time"
)

// A gate is where conversations or turns wait for slots, one at a time. Only one goroutine may use it.
type gate struct {
	slots *slots // nil without a limit
	rank  rank   // of those who wait here
	epoch time.Time
	freed time.Duration // when the slot was freed that was last taken after a wait
}

// take takes a slot, and reports whether it got one before ctx or the part ended. Waiting for a slot is a
// delay by the server: freed becomes the time when the slot was freed. If a slot is free and we are late,
// the delay is lag.
func (g *gate) take(ctx context.Context, of *stage, over <-chan time.Time) bool {
	if ctx.Err() != nil || of.over(time.Since(g.epoch)) {
		return false
	}
	if g.slots.take(g.rank) {
		return true
	}
	given := g.slots.await(g.rank)
	select {
	case at := <-given:
		if of.over(time.Since(g.epoch)) {
			g.slots.giveBack(g.rank, at) // leave the slot to the next part
			return false
		}
		g.freed = max(g.freed, at)
		return true
	case <-over:
	case <-ctx.Done():
	}
	g.slots.leave(g.rank, given)
	return false
}
