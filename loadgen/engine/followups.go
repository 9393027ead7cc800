package engine

import (
	"cmp"
	"container/heap"
	"context"
	"sync"
	"time"
)

// encodeLead is how long before it is due a later turn is encoded. That takes a few milliseconds
// for the longest prompts, and bounds the memory of the bodies that wait.
const encodeLead = 20 * time.Millisecond

// followUps are the later turns of sessions that wait for nothing but their time, first due first.
type followUps struct {
	mu     sync.Mutex
	turns  turnHeap
	open   int  // sessions that have begun and are not over
	closed bool // no more sessions begin
	wake   chan struct{}
}

// A followUp is a turn that is due once its gap is over.
type followUp struct {
	of      *liveSession
	turn    int
	due     time.Duration
	ready   bool // it is encoded, or about to be
	claimed bool // it has claimed a slot
}

// at is when something must be done for it.
func (f *followUp) at() time.Duration {
	if f.ready {
		return f.due
	}
	return f.due - encodeLead
}

// before orders follow-ups by time, and at one instant by session and turn.
func (f *followUp) before(o *followUp) int {
	return cmp.Or(cmp.Compare(f.at(), o.at()), cmp.Compare(f.due, o.due), cmp.Compare(f.of.index, o.of.index),
		cmp.Compare(f.turn, o.turn))
}

func newFollowUps() *followUps { return &followUps{wake: make(chan struct{}, 1)} }

// change changes f under its lock, and has the loop look at it.
func (f *followUps) change(by func()) {
	f.mu.Lock()
	by()
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *followUps) push(one *followUp) {
	f.change(func() { heap.Push(&f.turns, one) })
}

// first is the next follow-up, if there is one. There are no more once all sessions are over.
func (f *followUps) first() (next *followUp, more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.turns) > 0 {
		return f.turns[0], true
	}
	return nil, f.open > 0 || !f.closed
}

func (f *followUps) pop() *followUp {
	f.mu.Lock()
	defer f.mu.Unlock()
	return heap.Pop(&f.turns).(*followUp)
}

// next waits until something must be done for the first follow-up, and takes it. It returns nil
// if no more can come, or ctx ends.
func (f *followUps) next(ctx context.Context, epoch time.Time, wait Waiter) (*followUp, error) {
	for ctx.Err() == nil {
		one, more := f.first()
		switch {
		case one == nil && !more:
			return nil, nil
		case one == nil:
			select {
			case <-f.wake:
			case <-ctx.Done():
			}
		case epoch.Add(one.at()).After(time.Now()):
			if err := f.doze(ctx, epoch.Add(one.at()), wait); err != nil {
				return nil, err
			}
		default:
			return f.pop(), nil
		}
	}
	return nil, nil
}

// doze waits until an instant, or until f changes, or ctx ends.
func (f *followUps) doze(ctx context.Context, until time.Time, wait Waiter) error {
	dozing, up := context.WithCancel(ctx)
	changed := make(chan struct{})
	go func() {
		defer close(changed)
		select {
		case <-f.wake:
			up()
		case <-dozing.Done():
		}
	}()
	err := wait(dozing, until)
	if dozing.Err() != nil {
		err = nil
	}
	up()
	<-changed
	return err
}

// A turnHeap is a container/heap of follow-ups.
type turnHeap []*followUp

func (h turnHeap) Len() int           { return len(h) }
func (h turnHeap) Less(i, j int) bool { return h[i].before(h[j]) < 0 }
func (h turnHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *turnHeap) Push(x any)        { *h = append(*h, x.(*followUp)) }

func (h *turnHeap) Pop() any {
	last := len(*h) - 1
	one := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return one
}
