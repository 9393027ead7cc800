package steps

import (
	"slices"
	"sync"
	"time"
)

// An inbox is what the handlers have told the engine and the engine has not taken yet. It is safe for
// concurrent use.
type inbox struct {
	stats *stats        // counts what arrives
	wake  chan struct{} // holds one signal: something arrived

	mu       sync.Mutex
	closed   bool
	arriving []*Sequence // submitted
	leaving  []departure // cancelled, perhaps still in the batch
}

type departure struct {
	seq *Sequence
	at  time.Time
}

func newInbox(st *stats) *inbox { return &inbox{stats: st, wake: make(chan struct{}, 1)} }

// submit takes a sequence; false means that the inbox is closed.
func (i *inbox) submit(seq *Sequence) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return false
	}
	i.stats.arrived()
	i.arriving = append(i.arriving, seq)
	select {
	case i.wake <- struct{}{}:
	default:
	}
	return true
}

// cancel says that nobody waits for a sequence from now on.
func (i *inbox) cancel(seq *Sequence) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.leaving = append(i.leaving, departure{seq, time.Now()})
}

// close lets nothing in any more. It reports whether the inbox was open.
func (i *inbox) close() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	open := !i.closed
	i.closed = true
	return open
}

// idle reports whether no sequence has arrived.
func (i *inbox) idle() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.arriving) == 0
}

// take takes out the sequences that came before an instant, in order, and those that were cancelled before
// it and have not finished.
func (i *inbox) take(before time.Time) (came, gone []*Sequence) {
	i.mu.Lock()
	defer i.mu.Unlock()
	select {
	case <-i.wake:
	default:
	}
	i.arriving = slices.DeleteFunc(i.arriving, func(seq *Sequence) bool {
		took := seq.at.arrived.Before(before)
		if took {
			came = append(came, seq)
		}
		return took
	})
	i.leaving = slices.DeleteFunc(i.leaving, func(d departure) bool {
		took := d.at.Before(before)
		if took && !d.seq.outlet.finished() {
			gone = append(gone, d.seq)
		}
		return took
	})
	slices.SortFunc(came, (*Sequence).before)
	return came, gone
}

// drain takes out everything, and returns the sequences that had arrived.
func (i *inbox) drain() []*Sequence {
	i.mu.Lock()
	defer i.mu.Unlock()
	left := i.arriving
	i.arriving, i.leaving = nil, nil
	return left
}
