package loadgen

import (
	"strconv"
	"strings"
	"time"
)

// parseCoreWait reads Linux's /proc/PID/task/TID/schedstat: nanoseconds that the thread
// ran, nanoseconds that it could have run and had no core, and how often it was put on
// one.
func parseCoreWait(text string) time.Duration {
	fields := strings.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	waited, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(waited)
}
