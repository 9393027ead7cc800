package sweep

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// A Holder runs one command in a process of its own, so that the command ends
// when the sweep does, even when the sweep is killed: standard input is a pipe
// from the sweep, and its end is the command's. On Linux all that the command has
// started ends with it, in whatever group or session it is, also when the holder
// is killed; only when the sweep is killed together with it, what has left its
// parent stays until the next sweep with the same journal. Elsewhere what has left the command's group is not found, and
// nothing is when the holder is killed.
type Holder struct {
	Command []string
	Stop    []string      // command that stops it, before any signal; none when empty
	Grace   time.Duration // for Stop and for SIGTERM, each, before SIGKILL
}

const (
	settle = 5 * time.Second       // how long processes that were killed may take to be gone
	pause  = 10 * time.Millisecond // between two looks at them
)

// An ended error is how a command ended by itself: its exit code, or 128 and the
// number of the signal, as a shell has it.
type ended int

func (e ended) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// ExitCode is the exit code.
func (e ended) ExitCode() int { return int(e) }

// Run runs the command, with this process's output, until it ends or stdin does
// or ctx. Nothing that it has started outlives it. An error with an ExitCode is
// the command's own. It belongs into the main function of a process that does
// nothing else.
func (h *Holder) Run(ctx context.Context, stdin io.Reader) error {
	runtime.LockOSThread() // which the command's life depends on; see dieWithParent
	keepShared()
	adopt()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		io.Copy(io.Discard, stdin)
		cancel()
	}()
	var f family
	ended, err := f.start(held(h.Command))
	if err != nil {
		return err
	}
	select {
	case err := <-ended:
		f.kill()
		return err
	case <-ctx.Done():
	}
	h.stop(&f)
	return nil
}

func held(words []string) *exec.Cmd {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd
}

// stop ends the command and what it has started, at first kindly.
func (h *Holder) stop(f *family) {
	if len(h.Stop) > 0 {
		ended, err := f.start(held(h.Stop))
		if err == nil {
			select {
			case err = <-ended:
			case <-time.After(h.Grace):
				err = fmt.Errorf("it has not ended within %v", h.Grace)
			}
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "servebench: stopping the server by %s: %v\n", h.Stop[0], err)
		}
	}
	f.signal(syscall.SIGTERM)
	for until := time.Now().Add(h.Grace); !f.gone() && time.Now().Before(until); {
		time.Sleep(pause)
	}
	f.kill()
}

// kill ends all members at once.
func (f *family) kill() {
	for until := time.Now().Add(settle); !f.gone() && time.Now().Before(until); time.Sleep(pause) {
		f.signal(syscall.SIGKILL)
	}
}
