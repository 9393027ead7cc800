package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

// A condition is what disturbs the client while it measures.
type condition struct {
	name  string
	quiet bool // the client has priority, and waits for an idle machine
	busy  int  // loops that compete for the cores
	stop  time.Duration
	run   time.Duration // between stops
}

// conditions are all conditions.
var conditions = []condition{
	{name: "quiet", quiet: true},
	{name: "plain"},
	{name: "busy1", busy: 1},
	{name: "busy2", busy: 2},
	{name: "stops", stop: 15 * time.Millisecond, run: 40 * time.Millisecond},
	{name: "shortstops", stop: 6 * time.Millisecond, run: 50 * time.Millisecond},
}

// mostBusy is how long a loop is busy if nobody ends it.
const mostBusy = 2 * time.Minute

// busy is the main function of a loop's process. It ends with stdin.
func busy() {
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for start := time.Now(); time.Since(start) < mostBusy; {
	}
}

// loops starts busy loops, and returns a function that ends them.
func loops(n int) (end func() error, err error) {
	var ends []func() error
	end = func() error {
		var errs []error
		for _, e := range ends {
			errs = append(errs, e())
		}
		return errors.Join(errs...)
	}
	self, err := os.Executable()
	if err != nil {
		return end, err
	}
	for range n {
		cmd := exec.Command(self, "busy")
		stdin, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			return end, errors.Join(err, end())
		}
		ends = append(ends, func() error { return errors.Join(stdin.Close(), cmd.Wait()) })
	}
	return end, nil
}

// stops stops a process again and again until ctx ends. It leaves the process running.
func (c *condition) stops(ctx context.Context, p *os.Process) {
	for {
		if !sleep(ctx, c.run) || p.Signal(unix.SIGSTOP) != nil {
			return
		}
		goesOn := sleep(ctx, c.stop)
		if p.Signal(unix.SIGCONT) != nil || !goesOn {
			return
		}
	}
}

// sleep reports whether ctx did not end meanwhile.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
