package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A feeder is a server in the process of its clients: it writes one part of
// every stream when it is told to, and else does nothing. Its sockets are not
// known to the runtime's poller, so that they cost the clients nothing.
type feeder struct {
	listener int
	addr     netip.AddrPort
	part     []byte // what it writes
	streams  []socket
}

// newFeeder writes so many events at once.
func newFeeder(backlog, events int) (*feeder, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return nil, fmt.Errorf("bind: %w", err)
	}
	if err := unix.Listen(fd, backlog); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		return nil, fmt.Errorf("getsockname: %w", err)
	}
	local := name.(*unix.SockaddrInet4)
	addr := netip.AddrPortFrom(netip.AddrFrom4(local.Addr), uint16(local.Port))
	return &feeder{listener: fd, addr: addr, part: sampleEvents(events)}, nil
}

// accept takes one request and begins its answer.
func (f *feeder) accept() error {
	fd, _, err := unix.Accept4(f.listener, unix.SOCK_CLOEXEC)
	if err != nil {
		return fmt.Errorf("accept: %w", err)
	}
	s := socket(fd)
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return fmt.Errorf("TCP_NODELAY: %w", err)
	}
	request, err := http.ReadRequest(bufio.NewReader(s))
	if err != nil {
		return fmt.Errorf("reading a request: %w", err)
	}
	if _, err := io.Copy(io.Discard, request.Body); err != nil {
		return fmt.Errorf("reading a request: %w", err)
	}
	if _, err := io.WriteString(s, replyHeader); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	f.streams = append(f.streams, s)
	return nil
}

// write puts its part into every stream. It lets no other goroutine run meanwhile
// where there is one CPU.
func (f *feeder) write() error {
	for _, s := range f.streams {
		n, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(s), uintptr(unsafe.Pointer(&f.part[0])), uintptr(len(f.part)))
		if errno != 0 || int(n) < len(f.part) {
			return fmt.Errorf("writing %d bytes of %d: %w", n, len(f.part), errno)
		}
	}
	return nil
}

// sampleEvents is n events of vLLM's size and shape, each in an HTTP chunk of its
// own.
func sampleEvents(n int) []byte {
	const text = "1795176277123456789 1795176277123456789 0" // as a Metronome's
	return bytes.Repeat(chunked(fmt.Appendf(nil, eventFormat, text)), n)
}
