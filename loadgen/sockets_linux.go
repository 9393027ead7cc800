package loadgen

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// spareFiles are the descriptors that are needed beside the connections.
const spareFiles = 64

// CheckSockets reports why this machine cannot hold n connections to one
// address at once: too few file descriptors or local ports. What cannot be
// read is taken to be enough.
func CheckSockets(n int) error {
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil && uint64(n+spareFiles) > files.Cur {
		return fmt.Errorf("%d requests at once need %d file descriptors and the limit is %d: raise ulimit -n or set --max-concurrency", n, n+spareFiles, files.Cur)
	}
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return nil
	}
	var low, high int
	if _, err := fmt.Sscan(string(text), &low, &high); err == nil && n > high-low+1 {
		return fmt.Errorf("%d requests at once need as many local ports and there are %d (net.ipv4.ip_local_port_range): set --max-concurrency", n, high-low+1)
	}
	return nil
}
