//go:build unix

package sweep

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes cmd's process the first of a group of its own, which no Ctrl-C
// reaches.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminate asks all processes of cmd's group to end.
func terminate(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// kill ends all processes of cmd's group.
func kill(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// gone says whether cmd's group has no process left.
func gone(cmd *exec.Cmd) bool { return syscall.Kill(-cmd.Process.Pid, 0) == syscall.ESRCH }

// share has cmd's process hold the lock, too.
func share(cmd *exec.Cmd, lock *os.File) { cmd.ExtraFiles = []*os.File{lock} }

// keepShared keeps the lock from what this process starts.
func keepShared() { syscall.CloseOnExec(3) }
