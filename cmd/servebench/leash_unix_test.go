//go:build unix

package main

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A leash is a named pipe that processes have open for as long as they live.
type leash struct{ *os.File }

func newLeash(t *testing.T, name string) leash {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return leash{f}
}

// awaitLoose waits until no process has it any more.
func (l leash) awaitLoose(t *testing.T) {
	t.Helper()
	l.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.ReadAll(l); err != nil {
		t.Errorf("a process is left: %v", err)
	}
}

// loose says whether no process has it.
func (l leash) loose(t *testing.T) bool {
	t.Helper()
	raw, err := l.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	free := false
	raw.Read(func(fd uintptr) bool {
		n, err := syscall.Read(int(fd), make([]byte, 1))
		free = n == 0 && err == nil
		return true
	})
	return free
}

// program is this program under its own name, in a folder of the test's.
func program(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "servebench")
	if err := os.Symlink(self, name); err != nil {
		t.Fatal(err)
	}
	return name
}
