package host

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// procFolder describes processes.
const procFolder = "/proc"

// memoryBounds are the limits on the memory of this process, apart from the machine's memory: of its
// cgroups, of the shell that started it, and of its Slurm job.
func memoryBounds() (all []memoryBound) {
	for _, c := range cgroupsOf(procFolder, "memory") {
		all = append(all, c.memory()...)
	}
	text, _ := os.ReadFile(procFolder + "/self/statm") // all are 0 if it fails
	size, resident, data := pages(text, 0), pages(text, 1), pages(text, 5)
	for _, l := range []struct {
		resource int
		name     string
		used     int64
	}{{unix.RLIMIT_AS, "ulimit -v", size}, {unix.RLIMIT_DATA, "ulimit -d", data}} {
		var limit unix.Rlimit
		if unix.Getrlimit(l.resource, &limit) == nil && limit.Cur < 1<<62 {
			all = append(all, memoryBound{l.name, int64(limit.Cur), l.used})
		}
	}
	const slurm = "SLURM_MEM_PER_NODE" // in MiB; 0 is all
	if mebibytes, err := strconv.ParseInt(os.Getenv(slurm), 10, 40); err == nil && mebibytes > 0 {
		all = append(all, memoryBound{slurm, mebibytes << 20, resident})
	}
	return all
}

// pages is one field of /proc/PID/statm, in bytes.
func pages(statm []byte, field int) int64 {
	fields := strings.Fields(string(statm))
	if field >= len(fields) {
		return 0
	}
	n, _ := strconv.ParseInt(fields[field], 10, 64) // the kernel writes numbers
	return n * int64(os.Getpagesize())
}

// quota is the least CPU quota of the cgroups of this process.
func quota() (cores float64, known bool) {
	_, cores = leastQuota(procFolder)
	return cores, cores > 0
}

// leastQuota is the cgroup of this process with the least CPU quota, and that in cores, 0 without one.
func leastQuota(proc string) (group cgroup, cores float64) {
	for _, c := range cgroupsOf(proc, "cpu") {
		if n, limited := c.cores(); limited && (cores == 0 || n < cores) {
			group, cores = c, n
		}
	}
	return group, cores
}
