package sweep

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// adopt makes this process the parent of orphans among its descendants, so that
// it can wait for them, too. Without it they are init's.
func adopt() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// dieWithParent has cmd's process killed when the thread that starts it ends.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL }

// reap takes note of the ends of processes of cmd's group.
func reap(cmd *exec.Cmd) {
	for {
		pid, err := syscall.Wait4(-cmd.Process.Pid, nil, syscall.WNOHANG, nil)
		if pid <= 0 || err != nil {
			return
		}
	}
}
