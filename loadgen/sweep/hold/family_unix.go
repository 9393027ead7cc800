//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package hold

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// gone reports whether the family has ended. It reaps processes that have.
func (f *family) gone() bool {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if pid <= 0 && err != syscall.EINTR {
			return err == syscall.ECHILD && len(f.members()) == 0
		}
	}
}

// signal sends a signal to the whole family.
func (f *family) signal(s syscall.Signal) {
	for _, pid := range f.members() {
		syscall.Kill(pid, s)
	}
}

// wake lets the family go on that somebody has stopped, so that it can end.
func (f *family) wake() { f.signal(syscall.SIGCONT) }

// wake lets a process go on that somebody has stopped.
func wake(p *os.Process) { p.Signal(syscall.SIGCONT) }

// setApart puts cmd into a separate session, which no Ctrl-C and no end of a terminal
// reaches, and passes it the lock and the mark.
func setApart(cmd *exec.Cmd, lock *os.File) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.ExtraFiles = []*os.File{lock}
	cmd.Env = append(cmd.Environ(), mark(lock))
}

// mark is an environment variable in all processes that a Keeper has started. As long as any
// process has the lock open, no other lock has the same mark.
func mark(lock *os.File) string {
	var s syscall.Stat_t
	syscall.Fstat(int(lock.Fd()), &s) // cannot fail, since the file is open
	return fmt.Sprintf("SERVEBENCH_LOCK=%d:%d", s.Dev, s.Ino)
}

// keepLock keeps the lock from the processes that this one starts.
func keepLock() { syscall.CloseOnExec(3) }

// tryLock takes a lock on f, if it is free. The lock lasts until f is closed in this process and in
// all that inherited it.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
