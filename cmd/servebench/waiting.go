package main

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

// A waiting says for how long what is left of a file may take to be written: as long as
// what reads it takes something every ten minutes. Once ctx has ended, by Ctrl-C, it is
// as long as requests in flight have, and a second at least.
type waiting struct {
	ctx   context.Context
	drain time.Duration // that requests in flight have
}

// errGivenUp says that Ctrl-C ended the waiting.
var errGivenUp = errors.New("interrupted")

// end waits until all is written. What is given up makes the file broken.
func (f *recordFile) end(w waiting) {
	done, interrupted := f.finish(), w.ctx.Done()
	tell, over := time.NewTimer(waitingTold), time.NewTimer(readerPatience)
	defer tell.Stop()
	defer over.Stop()
	for before := f.written(); ; {
		select {
		case <-done:
			f.broken = cmp.Or(f.broken, f.failed())
			return
		case <-tell.C:
			aside(f.talk, "waiting for what reads %s: %s are not taken yet; Ctrl-C gives up after %s", f.holds, f.left(), w.grace())
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
func (w waiting) grace() time.Duration { return max(w.drain, time.Second) }

// giveUp says what is lost.
func (f *recordFile) giveUp(interrupted bool) {
	why := fmt.Errorf("what reads it took nothing for %s", readerPatience)
	if interrupted {
		why = errGivenUp
	}
	f.broken = cmp.Or(f.broken, fmt.Errorf("%w: the last %s of it are lost", why, f.left()))
}
