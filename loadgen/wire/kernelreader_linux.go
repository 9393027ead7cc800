package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A kernelReader reads from a TCP socket, with the kernel's stamp of the newest byte. It makes
// everything that a read needs once, so reads do not allocate. Do not copy the message: it points
// into the kernelReader.
type kernelReader struct {
	conn    *net.TCPConn
	socket  syscall.RawConn
	receive func(fd uintptr) bool

	message unix.Msghdr
	into    unix.Iovec
	control struct {
		header unix.Cmsghdr
		stamp  unix.Timespec
	}

	n       int
	err     syscall.Errno
	waited  bool // the socket was empty at first
	stamped bool // control holds the stamp of the bytes just read
}

// askForStamps makes the kernel stamp what fd receives. It takes a moment if no other socket of
// this machine has asked for stamps.
func askForStamps(fd uintptr) error {
	return unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
}

// KernelStamps says whether this system's kernel stamps what a TCP socket receives.
func KernelStamps() bool {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return askForStamps(uintptr(fd)) == nil
}

// newKernelReader returns nil if conn is no TCP connection or ask fails.
func newKernelReader(conn net.Conn, ask func(fd uintptr) error) *kernelReader {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil
	}
	socket, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	var refused error
	if err := socket.Control(func(fd uintptr) { refused = ask(fd) }); err != nil || refused != nil {
		return nil
	}
	r := &kernelReader{conn: tcp, socket: socket}
	r.receive = r.try
	r.message.Iov = &r.into
	r.message.SetIovlen(1)
	r.message.Control = (*byte)(unsafe.Pointer(&r.control))
	return r
}

// read returns bytes and errors as the connection's own Read does. p must not be empty.
func (r *kernelReader) read(p []byte) (int, error) {
	r.into.Base, r.waited, r.stamped = &p[0], false, false
	r.into.SetLen(len(p))
	err := r.socket.Read(r.receive)
	r.into.Base = nil
	switch {
	case err != nil:
		if raw, ok := errors.AsType[*net.OpError](err); ok {
			err = raw.Err
		}
		return 0, r.failure(err)
	case r.err != 0:
		return 0, r.failure(os.NewSyscallError("read", r.err))
	case r.n == 0:
		return 0, io.EOF
	}
	return r.n, nil
}

// try reads once. It returns false if the socket is empty and the caller must wait.
func (r *kernelReader) try(fd uintptr) bool {
	for {
		r.message.SetControllen(int(unsafe.Sizeof(r.control)))
		// It does not block, so the scheduler need not know.
		n, _, err := unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&r.message)), unix.MSG_DONTWAIT)
		switch err {
		case unix.EINTR:
			continue
		case unix.EAGAIN:
			r.waited = true
			return false
		}
		r.n, r.err = int(n), err
		header := &r.control.header
		r.stamped = err == 0 && r.message.Controllen > 0 && header.Level == unix.SOL_SOCKET && header.Type == unix.SCM_TIMESTAMPNS
		synchronize(fd)
		return true
	}
}

// stamp is when the newest byte arrived, in nanoseconds of Unix time.
func (r *kernelReader) stamp() int64 { return r.control.stamp.Nano() }

// failure is err as the connection's own Read returns it.
func (r *kernelReader) failure(err error) error {
	local := r.conn.LocalAddr()
	return &net.OpError{Op: "read", Net: local.Network(), Source: local, Addr: r.conn.RemoteAddr(), Err: err}
}

// overtakers is the number of packets so far that arrived before an earlier packet: their bytes
// wait for the earlier one. It is 0 if the kernel does not report it.
func (c *stampedConn) overtakers() int64 {
	if c.kernel == nil {
		return 0
	}
	n := int64(0)
	_ = c.kernel.socket.Control(func(fd uintptr) { // a closed socket reports nothing
		if told, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			n = int64(told.Rcv_ooopack)
		}
	})
	return n
}

// alive reports whether the other side has not closed the connection. If it cannot tell, it returns
// true. Unread bytes are fine: a TLS server sends tickets after the handshake.
func (c *stampedConn) alive() bool {
	socket, err := c.SyscallConn()
	if err != nil {
		return true
	}
	alive := false // and stays so if we have closed it ourselves
	_ = socket.Control(func(fd uintptr) {
		ask := []unix.PollFd{{Fd: int32(fd), Events: unix.EPOLLRDHUP}} // POLLRDHUP is the same number
		n, err := unix.Poll(ask, 0)
		alive = n == 0 || err != nil
	})
	return alive
}
