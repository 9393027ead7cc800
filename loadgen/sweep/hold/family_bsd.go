//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package hold

import (
	"os"
	"os/exec"
	"syscall"
)

// setGroup puts cmd into a separate process group.
func setGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// members are the process groups of the commands, as negative numbers for kill(2).
func (f *family) members() []int {
	var groups []int
	for _, cmd := range f.commands {
		if group := -cmd.Process.Pid; syscall.Kill(group, 0) != syscall.ESRCH {
			groups = append(groups, group)
		}
	}
	return groups
}

// Orphans become children of init on these systems.

func adopt() {}

func endOrphans(map[int]bool) {}

func endLeft(*os.File) {}
