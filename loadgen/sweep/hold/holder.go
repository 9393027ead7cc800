package hold

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// Main is a holder. It runs the Command in text, with this process's output, until the
// command or standard input ends or a SIGTERM comes. Nothing that the command has started
// outlives it. The code is the exit code of the command; for a signal it is 128 and the
// signal's number, as in a shell. An error says why the command did not run. Main must be
// called in the main goroutine of a process that does nothing else.
func Main(text string) (code int, err error) {
	runtime.LockOSThread() // the command dies with this thread; see setGroup
	// Nobody reads them, so they have no effect here. Ignored signals would stay ignored in
	// the command.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGHUP)
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	var c Command
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return 1, err
	}
	keepLock()
	adopt()
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	var f family
	ended, err := f.start(c.Args)
	if err != nil {
		return 1, err
	}
	select {
	case code = <-ended:
	case <-ctx.Done():
		c.stop(&f)
	}
	f.kill()
	return code, nil
}

// A family is the commands that a holder has started and, on Linux, all processes that
// these have started.
type family struct {
	commands []*exec.Cmd
	running  atomic.Int32 // how many of commands run
}

// start starts a command. Its exit code comes through the channel.
func (f *family) start(words []string) (<-chan int, error) {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	setGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	f.commands = append(f.commands, cmd)
	f.running.Add(1)
	ended := make(chan int, 1)
	go func() {
		cmd.Wait()
		f.running.Add(-1)
		ended <- exitCode(cmd.ProcessState)
	}()
	return ended, nil
}

// exitCode is the exit code of a command. It is unknown if gone reaped the command first.
func exitCode(how *os.ProcessState) int {
	if how == nil {
		return -1
	}
	if status, ok := how.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return how.ExitCode()
}

// stop asks the family to end, and gives it time for that.
func (c *Command) stop(f *family) {
	if len(c.Stop) > 0 {
		if err := c.runStop(f); err != nil {
			fmt.Fprintf(os.Stderr, "servebench: stopping the server by %s: %v\n", c.Stop[0], err)
		}
	}
	f.signal(syscall.SIGTERM)
	f.wake()
	for until := time.Now().Add(c.Grace); !f.gone() && time.Now().Before(until); {
		time.Sleep(pause)
	}
}

func (c *Command) runStop(f *family) error {
	ended, err := f.start(c.Stop)
	if err != nil {
		return err
	}
	select {
	case code := <-ended:
		if code != 0 {
			return fmt.Errorf("exit status %d", code)
		}
		return nil
	case <-time.After(c.Grace):
		return fmt.Errorf("it has not ended within %v", c.Grace)
	}
}

// kill kills the family.
func (f *family) kill() {
	for until := time.Now().Add(Settle); !f.gone() && time.Now().Before(until); time.Sleep(pause) {
		f.signal(syscall.SIGKILL)
	}
}
