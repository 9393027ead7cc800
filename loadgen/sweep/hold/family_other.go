//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package hold

import (
	"os"
	"os/exec"
	"syscall"
)

// gone says whether no member is left.
func (f *family) gone() bool { return f.running.Load() == 0 }

// signal kills, as there is no signal that asks.
func (f *family) signal(syscall.Signal) {
	for _, cmd := range f.commands {
		cmd.Process.Kill()
	}
}

// tryLock takes no lock: this system has none that a process passes on.
func tryLock(*os.File) (bool, error) { return true, nil }

func setApart(*exec.Cmd, *os.File) {}

func setGroup(*exec.Cmd) {}

func keepLock() {}

func adopt() {}

func endOrphans(map[int]bool) {}

func endLeft(*os.File) {}
