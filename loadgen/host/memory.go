package host

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"
)

// FreeMemory is how many bytes of memory a process can take without swapping, as Linux
// estimates it (MemAvailable, see proc(5)). It is not known on other systems.
func FreeMemory() (bytes int64, known bool) {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	defer f.Close() // which was only read
	return available(f)
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
