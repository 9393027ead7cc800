package host

import (
	"os"
	"runtime/debug"
)

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
