package host

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// A Memory is how much memory this process can still take.
type Memory struct {
	Free int64 // bytes
	// Limit is what bounds it, with its value, such as memory.max of a container's cgroup; "" for the
	// machine.
	Limit string
}

// FreeMemory is how much memory a process can take without swapping: what Linux estimates for the
// machine (MemAvailable, see proc(5)), or less under a limit of a container, a Slurm job or a shell. It
// is not known on other systems.
func FreeMemory() (m Memory, known bool) {
	if f, err := os.Open("/proc/meminfo"); err == nil {
		m.Free, known = available(f)
		f.Close() // which was only read
	}
	for _, b := range memoryBounds() {
		if free := max(b.most-b.used, 0); !known || free < m.Free {
			m, known = Memory{free, fmt.Sprintf("%s (%.1f GiB)", b.name, float64(b.most)/(1<<30))}, true
		}
	}
	return m, known
}

// A memoryBound is a limit of memory.
type memoryBound struct {
	name       string // of the limit, and where it is
	most, used int64  // bytes
}

// available finds MemAvailable in the text of /proc/meminfo.
func available(meminfo io.Reader) (bytes int64, known bool) {
	for lines := bufio.NewScanner(meminfo); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) == 3 && fields[0] == "MemAvailable:" && fields[2] == "kB" {
			kilobytes, err := strconv.ParseInt(fields[1], 10, 52)
			return kilobytes << 10, err == nil
		}
	}
	return 0, false
}

// HeedMemoryLimit makes Go's garbage collector keep below nine tenths of the least limit on the memory
// of this process, such as a container's. Otherwise its heap may grow to twice of what is in use, and
// the kernel kills the process. GOMEMLIMIT in the environment takes precedence.
func HeedMemoryLimit() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	least := int64(0)
	for _, b := range memoryBounds() {
		if least == 0 || b.most < least {
			least = b.most
		}
	}
	if least > 0 {
		debug.SetMemoryLimit(least / 10 * 9)
	}
}
