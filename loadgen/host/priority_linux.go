package host

import (
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// roundRobin is the priority that chrt --rr 10 gives.
const roundRobin = 10

// MayPrioritize reports that chrt --rr 10 could start this program with a real-time priority, and that it
// has none yet: the program chrt is there, and the kernel lets this user do it. Root and CAP_SYS_NICE may,
// and so may who has a limit for it (ulimit -r); a container or a cgroup can forbid it to all of them.
func MayPrioritize() bool {
	if _, err := exec.LookPath("chrt"); err != nil {
		return false
	}
	allowed := make(chan bool)
	go func() {
		runtime.LockOSThread() // and never unlock it: the thread ends with its priority
		now, err := unix.SchedGetAttr(0, 0)
		allowed <- err == nil && now.Policy != unix.SCHED_RR && now.Policy != unix.SCHED_FIFO &&
			now.Policy != unix.SCHED_DEADLINE &&
			unix.SchedSetAttr(0, &unix.SchedAttr{
				Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: roundRobin, Flags: unix.SCHED_FLAG_RESET_ON_FORK,
			}, 0) == nil
	}()
	return <-allowed
}
