//go:build unix

package host

import (
	"time"

	"golang.org/x/sys/unix"
)

// processCPU is the CPU time that this process has used, in user space and in
// the kernel.
func processCPU() time.Duration {
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
