package wire

import (
	"context"
	"sync"
)

// A background runs functions in the background until it is stopped. The zero value is ready, also after a
// stop, and it is safe for concurrent use.
type background struct {
	mu      sync.Mutex
	ctx     context.Context // of those that run; nil for none
	cancel  context.CancelFunc
	running *sync.WaitGroup
}

// run runs f, whose context ends when b is stopped.
func (b *background) run(f func(ctx context.Context)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx == nil {
		b.ctx, b.cancel = context.WithCancel(context.Background())
		b.running = new(sync.WaitGroup)
	}
	ctx := b.ctx
	b.running.Go(func() { f(ctx) })
}

// stop ends the contexts of all functions that run, and waits for these.
func (b *background) stop() {
	b.mu.Lock()
	cancel, running := b.cancel, b.running
	b.ctx, b.cancel, b.running = nil, nil, nil
	b.mu.Unlock()
	if running != nil {
		cancel()
		running.Wait()
	}
}
