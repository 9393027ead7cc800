package host

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/servebench/servebench/metrics/samples"
)

// A Sampler asks what a server or its GPUs do, until ctx ends, and passes each answer to take, with
// its time counted from epoch. A sample that failed has an Error. A Sampler may call take from any
// goroutine, but only one call at a time, and not after it has returned.
type Sampler func(ctx context.Context, epoch time.Time, take func(*samples.Sample))

// A Watch keeps the samples of a Sampler during a run, until someone drains them. Its methods are
// safe for concurrent use.
type Watch struct {
	stop context.CancelFunc
	done chan struct{}

	mu            sync.Mutex
	samples       []*samples.Sample // not yet drained
	asked, failed int
	failing       bool   // the last one failed
	trouble       string // the last failure
}

// StartWatch begins to sample. Call Stop.
func StartWatch(epoch time.Time, sample Sampler) *Watch {
	ctx, stop := context.WithCancel(context.Background())
	w := &Watch{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		sample(ctx, epoch, w.take)
	}()
	return w
}

// take keeps a sample. Of consecutive failures it keeps the first.
func (w *Watch) take(s *samples.Sample) {
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

// Drain returns the samples since the last call. The caller owns them. A nil *Watch has none.
func (w *Watch) Drain() []*samples.Sample {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	drained := w.samples
	w.samples = nil
	return drained
}

// Stop ends the sampling and waits for its end. Drain then still returns the last samples. Stop may
// be called again, and on a nil *Watch.
func (w *Watch) Stop() {
	if w != nil {
		w.stop()
		<-w.done
	}
}

// Trouble says how many of the samples failed, and why the last of them failed; "" if none failed.
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
