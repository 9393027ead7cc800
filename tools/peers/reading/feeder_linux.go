package reading

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/servebench/servebench/loadgen/selftest/metronome"
)

// A feeder is a server in the process of its clients. It writes one part of every stream when told
// to, and does nothing else. The runtime's poller does not know its sockets, so they cost the
// clients nothing.
type feeder struct {
	listener net.Listener
	part     []byte // what it writes
	streams  []int  // sockets
}

// newFeeder writes so many of a metronome's events at once.
func newFeeder(events int) (*feeder, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	const at = 1795176277123456789
	event := metronome.AppendEvent(nil, metronome.Truth{Written: at, Arrived: at})
	return &feeder{listener: listener, part: bytes.Repeat(event, events)}, nil
}

// accept takes one request and begins its answer.
func (f *feeder) accept() error {
	conn, err := f.listener.Accept()
	if err != nil {
		return err
	}
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err == nil {
		_, err = io.Copy(io.Discard, request.Body)
	}
	if err == nil {
		_, err = io.WriteString(conn, metronome.ReplyHead)
	}
	if err != nil {
		return fmt.Errorf("answering a request: %w", err)
	}
	fd, err := unpolled(conn)
	f.streams = append(f.streams, fd)
	return err
}

// write puts its part into every stream. With one CPU, it lets no other goroutine run in between.
func (f *feeder) write() error {
	for _, fd := range f.streams {
		n, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&f.part[0])), uintptr(len(f.part)))
		if errno != 0 || int(n) < len(f.part) {
			return fmt.Errorf("writing %d bytes of %d: %w", n, len(f.part), errno)
		}
	}
	return nil
}
