package loadgen

import (
	"errors"
	"fmt"
	"sync"
)

// A voice passes what happens at a target to the Observer, without the target's secrets.
type voice struct {
	observer Observer
	plan     *Plan // the target's
}

// say passes a remark.
func (v voice) say(format string, args ...any) {
	v.observer.Remark(v.plan.Target, v.plan.Server.Secrets.Mask(fmt.Sprintf(format, args...)))
}

// event passes an event.
func (v voice) event(e Event) {
	e.Target, e.Plan, e.Err = v.plan.Target, v.plan, masked(e.Err, v.plan)
	v.observer.Event(e)
}

// named puts the target's name before an error.
func (v voice) named(err error) error {
	if err == nil || v.plan.Target == "" {
		return err
	}
	if failed, ok := errors.AsType[*FailedError](err); ok {
		return &FailedError{v.named(failed.Err)}
	}
	return fmt.Errorf("target %s: %w", v.plan.Target, err)
}

// A gate forwards calls to an Observer until it is shut.
type gate struct {
	Observer
	mu   sync.RWMutex
	over bool
}

func (g *gate) Event(s Event) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if !g.over {
		g.Observer.Event(s)
	}
}

func (g *gate) Remark(target, text string) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if !g.over {
		g.Observer.Remark(target, text)
	}
}

// shut waits for calls in progress, and forwards no more.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
}
