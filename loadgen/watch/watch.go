// Package watch samples what happens during a run, in one form: what servers, GPUs and pools of memory report.
//
// A Sampler asks, on the run's clock. A Set has the samplers of a target, each by a name: the setting that asks for it,
// if one does. It says which of them failed.
package watch

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

// A watch keeps the samples of a Sampler during a run, until someone drains them. Its methods are
// safe for concurrent use.
type watch struct {
	stop context.CancelFunc
	done chan struct{}

	mu            sync.Mutex
	samples       []*samples.Sample // not yet drained
	asked, failed int
	failing       bool   // the last one failed
	trouble       string // the last failure
}

// start begins to sample. Call stop, and wait for done.
func start(epoch time.Time, sample Sampler) *watch {
	ctx, stop := context.WithCancel(context.Background())
	w := &watch{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		sample(ctx, epoch, w.take)
	}()
	return w
}

// take keeps a sample. Of consecutive failures it keeps the first.
func (w *watch) take(s *samples.Sample) {
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

// drain returns the samples since the last call. The caller owns them.
func (w *watch) drain() []*samples.Sample {
	w.mu.Lock()
	defer w.mu.Unlock()
	drained := w.samples
	w.samples = nil
	return drained
}

// said says how many of the samples failed, and why the last of them failed; "" if none failed.
func (w *watch) said() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d samples failed: %s", w.failed, w.asked, w.trouble)
}
