package selftest

import (
	"fmt"
	"os"
)

// residentBytes is the memory that this process occupies; 0 where the system does
// not tell.
func residentBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		return 0
	}
	return resident * int64(os.Getpagesize())
}
