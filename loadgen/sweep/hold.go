package sweep

import (
	"io"
	"os"
	"os/exec"
	"sync"
)

// A hold is a command that runs under its holder.
type hold struct {
	pipe io.Closer     // the holder's standard input, whose end is the command's
	done chan struct{} // closed once the holder has ended, with err set
	err  error
}

// A brood is the holders of a sweep.
type brood struct {
	mu      sync.Mutex
	holders map[int]bool // that run, by their process ids
}

// start starts a holder, which holds the lock, too.
func (b *brood) start(cmd *exec.Cmd, lock *os.File) (*hold, error) {
	apart(cmd, lock)
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if b.holders == nil {
		b.holders = map[int]bool{}
	}
	b.holders[cmd.Process.Pid] = true
	h := &hold{pipe: pipe, done: make(chan struct{})}
	go func() {
		h.err = cmd.Wait()
		b.ended(cmd)
		close(h.done)
	}()
	return h, nil
}

// ended takes note of the end of a holder.
func (b *brood) ended(cmd *exec.Cmd) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.holders, cmd.Process.Pid)
	b.endOrphans()
}

// end ends the command and waits for its end.
func (h *hold) end() {
	h.pipe.Close()
	<-h.done
}
