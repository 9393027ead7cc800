package wire

import (
	"fmt"
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/servebench/servebench/loadgen/naming"
)

// spareFiles is how many descriptors are needed besides the connections.
const spareFiles = 64

// checkFiles reports a lack of file descriptors. It raises their limit as far as it may.
func checkFiles(n int) error {
	if limit, ok := raiseFiles(uint64(n + spareFiles)); !ok {
		return &naming.Error{Text: func(by naming.Spelling) string {
			return fmt.Sprintf("%d requests at once need %d file descriptors and the limit is %d: raise ulimit -n or set %s", n,
				n+spareFiles, limit, by.Spell(naming.MaxConcurrency))
		}}
	}
	return nil
}

// checkPorts reports a lack of local ports.
func checkPorts(n int) error {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return nil
	}
	var low, high int
	if _, err := fmt.Sscan(string(text), &low, &high); err == nil && n > high-low+1 {
		return &naming.Error{Text: func(by naming.Spelling) string {
			return fmt.Sprintf("%d requests at once need as many local ports and there are %d (net.ipv4.ip_local_port_range): "+
				"set %s", n, high-low+1, by.Spell(naming.MaxConcurrency))
		}}
	}
	return nil
}

// raiseFiles tries to allow this process n open descriptors. If it fails, limit is the number
// allowed.
func raiseFiles(n uint64) (limit uint64, ok bool) {
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) != nil || n <= files.Cur {
		return 0, true
	}
	more := unix.Rlimit{Cur: n, Max: max(n, files.Max)}
	if unix.Setrlimit(unix.RLIMIT_NOFILE, &more) == nil {
		return 0, true
	}
	return files.Max, false
}

// connectEarly begins to connect a new TCP socket before net does. If the server is on this machine,
// net's own call then finds the socket connected and returns at once. Otherwise net waits until the
// runtime polls the network: in a burst, until all other requests have begun. That wait would be in
// their TTFT. Errors are left to net's own call.
func connectEarly(_, address string, socket syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || to.Addr().Zone() != "" {
		return nil
	}
	return socket.Control(func(fd uintptr) {
		if ip := to.Addr(); ip.Is4() {
			_ = unix.Connect(int(fd), &unix.SockaddrInet4{Port: int(to.Port()), Addr: ip.As4()})
		} else {
			_ = unix.Connect(int(fd), &unix.SockaddrInet6{Port: int(to.Port()), Addr: ip.As16()})
		}
	})
}
