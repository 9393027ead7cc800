//go:build !unix

package sweep

import (
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
)

// A family is the processes that a holder started. On this system it does not
// know those that they started in turn.
type family struct {
	mu      sync.Mutex
	running []*os.Process
}

// start starts cmd. The channel gets how it ended.
func (f *family) start(cmd *exec.Cmd) (<-chan error, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	f.running = append(f.running, cmd.Process)
	how := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() > 0 {
			err = ended(cmd.ProcessState.ExitCode())
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.running = slices.DeleteFunc(f.running, func(p *os.Process) bool { return p == cmd.Process })
		how <- err
	}()
	return how, nil
}

// signal kills, as there is no signal that asks.
func (f *family) signal(syscall.Signal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.running {
		p.Kill()
	}
}

// gone says whether no member is left.
func (f *family) gone() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.running) == 0
}

func adopt() {}

func apart(*exec.Cmd, *os.File) {}

func keepShared() {}

func (b *brood) endOrphans() {}

func endLeft(*os.File) {}
