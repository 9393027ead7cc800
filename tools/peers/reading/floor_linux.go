package reading

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A floor is the least that reading streams can cost: one thread, one epoll_wait for everything
// that is ready, one read of each. It parses nothing and recognises events by their first word.
type floor struct {
	stamps bool // also read the kernel's time of arrival
	epoll  int
	ready  []unix.EpollEvent
	buf    []byte
	msg    unix.Msghdr
	iov    unix.Iovec
	time   [64]byte // control data: one timespec and its header

	expected int
}

func newFloor(stamps bool) (*floor, error) {
	f := &floor{stamps: stamps, ready: make([]unix.EpollEvent, 512), buf: make([]byte, 64<<10)}
	f.iov.Base = &f.buf[0]
	f.msg.Iov, f.msg.Control = &f.iov, &f.time[0]
	f.msg.SetIovlen(1)
	var err error
	if f.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("epoll_create: %w", err)
	}
	return f, nil
}

func (f *floor) connect(addr net.Addr) error {
	conn, err := net.Dial("tcp", addr.String())
	if err != nil {
		return err
	}
	body := requestBody(1 << 30)
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: bench\r\nContent-Length: %d\r\n\r\n%s", endpoint, len(body),
		body); err != nil {
		return err
	}
	fd, err := unpolled(conn)
	if err != nil {
		return err
	}
	if f.stamps {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
			return fmt.Errorf("SO_TIMESTAMPNS: %w", err)
		}
	}
	return unix.EpollCtl(f.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

func (f *floor) expect(n int) { f.expected = n }

func (f *floor) consume() error {
	for f.expected > 0 {
		n, err := unix.EpollWait(f.epoll, f.ready, -1)
		if err != nil && err != unix.EINTR {
			return fmt.Errorf("epoll_wait: %w", err)
		}
		for _, ready := range f.ready[:max(n, 0)] {
			size := f.read(uintptr(ready.Fd))
			if size <= 0 {
				return errors.New("a stream ended")
			}
			f.expected -= bytes.Count(f.buf[:size], []byte("data: {"))
		}
	}
	return nil
}

// read bypasses the scheduler, since nothing else waits to run.
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

// unpolled is the socket of a connection, which it closes. The runtime's poller no longer knows the
// socket, so the socket costs nothing to users of the poller.
func unpolled(conn net.Conn) (fd int, err error) {
	defer conn.Close()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := raw.Control(func(polled uintptr) { fd, err = unix.FcntlInt(polled, unix.F_DUPFD_CLOEXEC, 0) })
	return fd, errors.Join(failed, err)
}
