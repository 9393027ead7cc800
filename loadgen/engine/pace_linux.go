package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// KernelTimers says whether requests wait for their time on a timer of the kernel.
const KernelTimers = true

// A pacer is a Waiter that reads a timerfd through the runtime's poller: it is about 25 µs late, a
// runtime timer 500 µs, and it holds no thread. Only one goroutine may use it.
type pacer struct {
	fd   int
	file *os.File
}

func newPacer() (*pacer, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("timerfd: %w", err)
	}
	return &pacer{fd, os.NewFile(uintptr(fd), "timerfd")}, nil
}

func (p *pacer) Close() error { return p.file.Close() }

// Wait implements Waiter.
func (p *pacer) Wait(ctx context.Context, until time.Time) error {
	d := time.Until(until)
	if d <= 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	if err := unix.TimerfdSettime(p.fd, 0, &spec, nil); err != nil {
		return fmt.Errorf("timerfd: %w", err)
	}
	hooked := make(chan struct{})
	unhook := context.AfterFunc(ctx, func() {
		p.file.SetReadDeadline(time.Unix(1, 0))
		close(hooked)
	})
	defer func() {
		if !unhook() { // the next Wait may have another ctx
			<-hooked
			p.file.SetReadDeadline(time.Time{})
		}
	}()
	var expirations [8]byte
	if _, err := p.file.Read(expirations[:]); errors.Is(err, os.ErrDeadlineExceeded) {
		return ctx.Err()
	} else if err != nil {
		return fmt.Errorf("timerfd: %w", err)
	}
	return nil
}
