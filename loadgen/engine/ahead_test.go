package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// at is a schedule of these instants.
func at(instants ...time.Duration) Schedule { return slices.Values(instants) }

// calls are what Ahead was called with, and when.
type calls struct {
	mu    sync.Mutex
	since time.Time
	all   []string
}

func (c *calls) ahead(_ context.Context, waiting int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, fmt.Sprint(time.Since(c.since), " ", waiting))
}

func TestAheadIsCalledASecondBeforeARequestIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen calls
		r := oneLoad(Load{
			Source: prompts(6), Schedule: at(0, time.Second, 1500*time.Millisecond, 7*time.Second, 7*time.Second, time.Minute),
			Target: Target{Send: answer(time.Hour, 0, 1)}, Ahead: seen.ahead,
		})
		var due []int
		r.Ready = func(_ context.Context, soon []int) error { due = soon; return nil }
		r.Started = func(epoch time.Time) { seen.since = epoch }
		for i, rec := range collect(t, r) {
			if rec.Lag() != 0 {
				t.Errorf("request %d: lag %v", i, rec.Lag())
			}
		}
		slices.Sort(seen.all)
		if want := []string{"500ms 2", "59s 1", "6s 1", "6s 2"}; !slices.Equal(seen.all, want) || !slices.Equal(due, []int{2}) {
			t.Errorf("called %q, soon %v; want %q", seen.all, due, want)
		}
	})
}

// Requests that wait for a slot count as well. They start when one is free.
func TestAheadKnowsWhoWaitsForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen calls
		r := oneLoad(Load{
			Source: prompts(4), Schedule: every(2 * time.Second), Concurrency: 1, Target: Target{Send: answer(time.Minute, 0, 1)}, Ahead: seen.ahead,
		})
		r.Started = func(epoch time.Time) { seen.since = epoch }
		collect(t, r)
		if want := []string{"1s 1", "3s 2", "5s 3"}; !slices.Equal(seen.all, want) {
			t.Errorf("called %q, want %q", seen.all, want)
		}
	})
}

// An Ahead that hangs is cut when the last request has started, and delays nothing.
func TestAheadHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := oneLoad(Load{
			Source: prompts(3), Schedule: every(10 * time.Second), Target: Target{Send: answer(time.Second, 0, 1)},
			Ahead: func(ctx context.Context, _ int) { <-ctx.Done() },
		})
		start := time.Now()
		for i, rec := range collect(t, r) {
			if want := time.Duration(i) * 10 * time.Second; rec.Times.Sent != want {
				t.Errorf("request %d was sent at %v, want %v", i, rec.Times.Sent, want)
			}
		}
		if took := time.Since(start); took != 21*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestAClosedLoopHasNoAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen calls
		r := oneLoad(Load{Source: prompts(9), Concurrency: 2, Target: Target{Send: answer(time.Minute, 0, 1)}, Ahead: seen.ahead})
		if collect(t, r); len(seen.all) > 0 {
			t.Errorf("called %q", seen.all)
		}
	})
}
