//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package hold

import (
	"os"
	"os/exec"
	"syscall"
)

// gone reports whether the commands have ended.
func (f *family) gone() bool { return f.running.Load() == 0 }

// signal kills the commands: no signal asks a process to end.
func (f *family) signal(syscall.Signal) {
	for _, cmd := range f.commands {
		cmd.Process.Kill()
	}
}

// wake does nothing: these systems stop no process.
func (f *family) wake() {}

func wake(*os.Process) {}

// tryLock takes no lock: these systems have none that processes share.
func tryLock(*os.File) (bool, error) { return true, nil }

func setApart(*exec.Cmd, *os.File) {}

func setGroup(*exec.Cmd) {}

func keepLock() {}

func adopt() {}

func endOrphans(map[int]bool) {}

func endLeft(*os.File) {}
