//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package hold

import (
	"os"
	"os/exec"
	"syscall"
)

// setGroup makes cmd's process the first of a group.
func setGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// members are the groups of the commands, as kill(2) has them. What has left its
// group is not found on these systems.
func (f *family) members() []int {
	var groups []int
	for _, cmd := range f.commands {
		if group := -cmd.Process.Pid; syscall.Kill(group, 0) != syscall.ESRCH {
			groups = append(groups, group)
		}
	}
	return groups
}

// Orphans are init's here, and nobody knows which they were.

func adopt() {}

func endOrphans(map[int]bool) {}

func endLeft(*os.File) {}
