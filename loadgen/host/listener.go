package host

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// A Process is a process of this machine.
type Process struct {
	ID    string // of this start of it; no other process of any machine has the same
	PID   int
	Began time.Time // by the wall clock, to a second or so
}

// clockSlack is how far apart two programs may say that a process began: the kernel tells the time of
// the machine's start in whole seconds.
const clockSlack = 2 * time.Second

// isLoopback reports whether a URL's host is of the loopback interface.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}

// isHost reports whether a URL's host is this address of the loopback interface.
func isHost(ip netip.Addr, host string) bool {
	return ip.IsLoopback() && (ip.String() == host || strings.EqualFold(host, "localhost"))
}

// tableAddress reads an address of /proc/net/tcp: words of 32 bits in the machine's byte order, and a
// port.
func tableAddress(text string) (netip.AddrPort, bool) {
	digits, port, _ := strings.Cut(text, ":")
	words, err := hex.DecodeString(digits)
	n, wrong := strconv.ParseUint(port, 16, 16)
	if err != nil || wrong != nil || len(words)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for at := 0; at < len(words); at += 4 {
		binary.NativeEndian.PutUint32(words[at:], binary.BigEndian.Uint32(words[at:]))
	}
	ip, ok := netip.AddrFromSlice(words)
	return netip.AddrPortFrom(ip.Unmap(), uint16(n)), ok
}
