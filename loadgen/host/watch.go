package host

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/servebench/servebench/metrics"
)

// A Sampler asks what a server or its GPUs do until ctx ends, and passes each answer to
// take, with its time counted from epoch. A sample that failed has an Error. A Sampler
// may call take from any goroutine, but from one at a time, and not after it has
// returned.
type Sampler func(ctx context.Context, epoch time.Time, take func(*metrics.Sample))

// A Watch keeps what a Sampler takes while a run goes on, until somebody else
// wants it. Its methods are safe for concurrent use.
type Watch struct {
	stop context.CancelFunc
	done chan struct{}

	mu            sync.Mutex
	samples       []*metrics.Sample // not yet drained
	asked, failed int
	failing       bool   // the last one failed
	trouble       string // the last failure
}

// StartWatch begins to sample. Stop must be called.
func StartWatch(epoch time.Time, sample Sampler) *Watch {
	ctx, stop := context.WithCancel(context.Background())
	w := &Watch{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		sample(ctx, epoch, w.take)
	}()
	return w
}

// take keeps a sample. Of failures in a row it keeps the first.
func (w *Watch) take(s *metrics.Sample) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	again := w.failing && s.Error != ""
	if w.failing = s.Error != ""; w.failing {
		w.failed++
		w.trouble = s.Error
	}
	if !again {
		w.samples = append(w.samples, s)
	}
}

// Drain gives the samples since it was last called, which are then the caller's.
// A nil *Watch has none.
func (w *Watch) Drain() []*metrics.Sample {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	drained := w.samples
	w.samples = nil
	return drained
}

// Stop ends the sampling and waits for its end. Drain then still gives the last
// samples. It may be called again, and on a nil *Watch.
func (w *Watch) Stop() {
	if w != nil {
		w.stop()
		<-w.done
	}
}

// Trouble says how many of the samples failed and how the last of them did; ""
// where none did.
func (w *Watch) Trouble() string {
	if w == nil {
		return ""
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d samples failed: %s", w.failed, w.asked, w.trouble)
}
