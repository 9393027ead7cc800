//go:build !linux

package engine

import (
	"context"
	"time"
)

// KernelTimers says whether requests wait for their time on a timer of the kernel.
const KernelTimers = false

// A pacer uses Sleep on systems without timerfd.
type pacer struct{}

func newPacer() (*pacer, error) { return new(pacer), nil }

func (*pacer) Close() error { return nil }

// Wait implements Waiter.
func (*pacer) Wait(ctx context.Context, until time.Time) error { return Sleep(ctx, until) }
