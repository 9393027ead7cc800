//go:build unix

package sweep

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// A family is the processes that a holder started, and those that they did in
// turn. No other part of its process may wait for any.
type family struct {
	mu      sync.Mutex
	ended   map[int]chan<- error // of those started here that run, by their ids
	groups  []int                // that they lead
	reaping bool                 // until no child is left
}

// start starts cmd, whose standard files must be files. The channel gets how it
// ended.
func (f *family) start(cmd *exec.Cmd) (<-chan error, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	pid, ended := cmd.Process.Pid, make(chan error, 1)
	cmd.Process.Release()
	if f.ended == nil {
		f.ended = map[int]chan<- error{}
	}
	f.ended[pid] = ended
	f.groups = append(f.groups, pid)
	if !f.reaping {
		f.reaping = true
		go f.reap()
	}
	return ended, nil
}

// reap takes note of the ends of all children, the adopted ones, too, until none
// is left.
func (f *family) reap() {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		f.mu.Lock()
		if err == nil && f.ended[pid] != nil {
			f.ended[pid] <- howEnded(status)
			delete(f.ended, pid)
		}
		if err != nil && len(f.ended) == 0 {
			f.reaping = false
			f.mu.Unlock()
			return
		}
		f.mu.Unlock()
	}
}

func howEnded(status syscall.WaitStatus) error {
	switch {
	case status.Signaled():
		return ended(128 + int(status.Signal()))
	case status.ExitStatus() != 0:
		return ended(status.ExitStatus())
	}
	return nil
}

// childless says whether all children have ended.
func (f *family) childless() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.reaping
}

// signal sends a signal to all members.
func (f *family) signal(s syscall.Signal) {
	for _, pid := range f.members() {
		syscall.Kill(pid, s)
	}
}

// apart makes cmd's process the first of a session of its own, which no Ctrl-C
// and no end of a terminal reaches, and has it hold the lock, too, and the mark.
func apart(cmd *exec.Cmd, lock *os.File) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.ExtraFiles = []*os.File{lock}
	cmd.Env = append(cmd.Environ(), mark(lock))
}

// mark is the variable by which all that a sweep has started is known. As long as
// any process has the lock open, no other lock has the same.
func mark(lock *os.File) string {
	var s syscall.Stat_t
	syscall.Fstat(int(lock.Fd()), &s) // which cannot fail: the file is open
	return fmt.Sprintf("SERVEBENCH_LOCK=%d:%d", s.Dev, s.Ino)
}

// keepShared keeps the lock from what this process starts.
func keepShared() { syscall.CloseOnExec(3) }
