package sweep

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// A Holder runs one server in a process of its own, so that the server ends when
// the sweep does, even when the sweep is killed: standard input is a pipe from
// the sweep, and its end is the server's.
type Holder struct {
	Command []string
	Stop    []string      // command that stops it, before any signal; none when empty
	Grace   time.Duration // for Stop and for SIGTERM, each, before SIGKILL
}

// settle is how long processes that were killed may take to be gone.
const settle = 5 * time.Second

// Run runs the server, with this process's output, until it ends or stdin does
// or ctx. No process of the server's group outlives it. It belongs into the main
// function of a process that does nothing else.
func (h *Holder) Run(ctx context.Context, stdin io.Reader) error {
	runtime.LockOSThread() // which the server's life depends on; see dieWithParent
	keepShared()
	adopt()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		io.Copy(io.Discard, stdin)
		cancel()
	}()
	cmd := exec.Command(h.Command[0], h.Command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	ownGroup(cmd)
	dieWithParent(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		sweepUp(cmd)
		if err == nil {
			return nil
		}
		return fmt.Errorf("%s: %w", h.Command[0], err)
	case <-ctx.Done():
	}
	h.stop(cmd, ended)
	return nil
}

// stop ends the server, at first kindly.
func (h *Holder) stop(cmd *exec.Cmd, ended <-chan error) {
	if len(h.Stop) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), h.Grace)
		defer cancel()
		stop := exec.CommandContext(ctx, h.Stop[0], h.Stop[1:]...)
		stop.Stdout, stop.Stderr = os.Stdout, os.Stderr
		stop.WaitDelay = time.Second
		if err := stop.Run(); err != nil {
			fmt.Fprintf(os.Stderr, "servebench: stopping the server by %s: %v\n", h.Stop[0], err)
		}
	}
	terminate(cmd)
	select {
	case <-ended:
	case <-time.After(h.Grace):
	}
	sweepUp(cmd)
}

// sweepUp kills what is left of the server's group.
func sweepUp(cmd *exec.Cmd) {
	kill(cmd)
	for until := time.Now().Add(settle); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if reap(cmd); gone(cmd) {
			return
		}
	}
}
