package spool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// waitingTold is the time after which the user hears what Close waits for.
	waitingTold = time.Second

	// readerPatience is how long a reader may take nothing before we assume that it never will.
	readerPatience = 10 * time.Minute
)

// A Waiting says how long Close may wait for the rest of a file: as long as its reader takes
// something every ten minutes. Once Context has ended, by Ctrl-C, it is as long as requests in
// flight have, and at least a second.
type Waiting struct {
	// Context ends with the interrupt; may be nil.
	Context context.Context

	// Drain is how long requests in flight have then.
	Drain time.Duration
}

// ErrInterrupted says that Ctrl-C ended the wait.
var ErrInterrupted = errors.New("interrupted")

// End waits until everything is written. If it stops earlier, the file is broken.
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
			f.say("waiting for the reader of %s: %s are not written yet; Ctrl-C stops waiting after %s", f.holds(), f.left(),
				w.grace())
		case <-interrupted:
			interrupted = nil
			over.Reset(w.grace())
		case <-over.C:
			if now := f.written(); interrupted != nil && now > before {
				before = now
				over.Reset(readerPatience)
				continue
			}
			f.abandon(interrupted == nil)
			return
		}
	}
}

// grace is the time that Ctrl-C leaves.
func (w Waiting) grace() time.Duration { return max(w.Drain, time.Second) }

// abandon reports what is lost.
func (f *File) abandon(interrupted bool) {
	why := fmt.Errorf("its reader took nothing for %s", readerPatience)
	if interrupted {
		why = ErrInterrupted
	}
	f.broken = cmp.Or(f.broken, fmt.Errorf("%w: the last %s of it are lost", why, f.left()))
}
