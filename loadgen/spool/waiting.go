package spool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// waitingTold is after how long somebody is told what is waited for.
	waitingTold = time.Second

	// readerPatience is for how long a reader may take nothing before it is taken for one
	// that never comes back.
	readerPatience = 10 * time.Minute
)

// A Waiting says for how long what is left of a file may take to be written: as long as
// what reads it takes something every ten minutes. Once Context has ended, by Ctrl-C, it
// is as long as requests in flight have, and a second at least.
type Waiting struct {
	// Context ends with the interrupt; nil for none.
	Context context.Context

	// Drain is what requests in flight have then.
	Drain time.Duration
}

// ErrGivenUp says that Ctrl-C ended the waiting.
var ErrGivenUp = errors.New("interrupted")

// End waits until all is written. What is given up makes the file broken.
func (f *File) End(w Waiting) {
	done := f.finish()
	var interrupted <-chan struct{}
	if w.Context != nil {
		interrupted = w.Context.Done()
	}
	tell, over := time.NewTimer(waitingTold), time.NewTimer(readerPatience)
	defer tell.Stop()
	defer over.Stop()
	for before := f.written(); ; {
		select {
		case <-done:
			f.broken = cmp.Or(f.broken, f.failed())
			return
		case <-tell.C:
			f.say("waiting for what reads %s: %s are not taken yet; Ctrl-C gives up after %s", f.holds(), f.left(), w.grace())
		case <-interrupted:
			interrupted = nil
			over.Reset(w.grace())
		case <-over.C:
			if now := f.written(); interrupted != nil && now > before {
				before = now
				over.Reset(readerPatience)
				continue
			}
			f.giveUp(interrupted == nil)
			return
		}
	}
}

// grace is how long Ctrl-C leaves.
func (w Waiting) grace() time.Duration { return max(w.Drain, time.Second) }

// giveUp says what is lost.
func (f *File) giveUp(interrupted bool) {
	why := fmt.Errorf("what reads it took nothing for %s", readerPatience)
	if interrupted {
		why = ErrGivenUp
	}
	f.broken = cmp.Or(f.broken, fmt.Errorf("%w: the last %s of it are lost", why, f.left()))
}
