package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A floor is the least that reading streams can cost: one thread, one
// epoll_wait for whatever is ready, one read of each. It takes nothing apart and
// knows events by their first word alone.
type floor struct {
	stamps bool // read the kernel's time of arrival, too
	addr   unix.SockaddrInet4
	epoll  int
	ready  []unix.EpollEvent
	buf    []byte
	msg    unix.Msghdr
	iov    unix.Iovec
	time   [64]byte // control data: one timespec and its header

	expected int
}

func newFloor(addr netip.AddrPort, stamps bool) (*floor, error) {
	f := &floor{
		stamps: stamps, addr: unix.SockaddrInet4{Port: int(addr.Port()), Addr: addr.Addr().As4()},
		ready: make([]unix.EpollEvent, 512), buf: make([]byte, 64<<10),
	}
	f.iov.Base = &f.buf[0]
	f.msg.Iov, f.msg.Control = &f.iov, &f.time[0]
	f.msg.SetIovlen(1)
	var err error
	if f.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("epoll_create: %w", err)
	}
	return f, nil
}

// connect opens one more stream.
func (f *floor) connect(tokens int) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	if err := unix.Connect(fd, &f.addr); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	if f.stamps {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
			return fmt.Errorf("SO_TIMESTAMPNS: %w", err)
		}
	}
	body := requestBody(tokens)
	if _, err := fmt.Fprintf(socket(fd), "POST %s HTTP/1.1\r\nHost: bench\r\nContent-Length: %d\r\n\r\n%s", endpoint, len(body), body); err != nil {
		return err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return fmt.Errorf("fcntl: %w", err)
	}
	return unix.EpollCtl(f.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

func (f *floor) expect(n int) { f.expected = n }

func (f *floor) consume() error {
	return f.each(func(events int) bool {
		f.expected -= events
		return f.expected > 0
	})
}

// each reads whatever comes and says after each read how many events it brought,
// for as long as more are wanted.
func (f *floor) each(more func(events int) bool) error {
	for {
		n, err := unix.EpollWait(f.epoll, f.ready, -1)
		if err != nil && err != unix.EINTR {
			return fmt.Errorf("epoll_wait: %w", err)
		}
		for _, ready := range f.ready[:max(n, 0)] {
			size := f.read(uintptr(ready.Fd))
			if size <= 0 {
				return errors.New("a stream ended")
			}
			if !more(bytes.Count(f.buf[:size], []byte("data: {"))) {
				return nil
			}
		}
	}
}

// read goes round the scheduler, as nothing else waits to run.
func (f *floor) read(fd uintptr) int {
	if !f.stamps {
		n, _, _ := unix.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&f.buf[0])), uintptr(len(f.buf)))
		return int(n)
	}
	f.iov.SetLen(len(f.buf))
	f.msg.SetControllen(len(f.time))
	n, _, _ := unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&f.msg)), unix.MSG_DONTWAIT)
	return int(n)
}

// A socket is a blocking one that the runtime's poller does not know.
type socket int

func (s socket) Read(p []byte) (int, error) { return unix.Read(int(s), p) }

func (s socket) Write(p []byte) (int, error) { return unix.Write(int(s), p) }
