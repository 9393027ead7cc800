package spans

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Listen makes the kernel stamp what the connections of a TCP listener get. Others stay as they are.
func Listen(l net.Listener) net.Listener {
	if tcp, ok := l.(*net.TCPListener); ok && ask(tcp) == nil {
		return listener{l}
	}
	return l
}

// ask asks for stamps of a socket, and of the connections that it accepts.
func ask(socket syscall.Conn) error {
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	})
	return errors.Join(err, failed)
}

type listener struct{ net.Listener }

// Accept accepts a connection whose reads are stamped.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		return c, nil
	}
	return &conn{Conn: c, raw: raw}, nil
}

// Read reads as the connection itself does, and keeps the stamp of the last byte.
func (c *conn) Read(p []byte) (n int, err error) {
	var control [64]byte
	var size int
	var failed error
	err = c.raw.Read(func(fd uintptr) bool {
		for {
			n, size, _, _, failed = unix.Recvmsg(int(fd), p, control[:], unix.MSG_DONTWAIT)
			if failed != unix.EINTR {
				return failed != unix.EAGAIN
			}
		}
	})
	switch {
	case err != nil:
		return 0, err
	case failed != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(),
			Err: os.NewSyscallError("recvmsg", failed)}
	case n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	c.got(stamp(control[:size]))
	return n, nil
}

// stamp is the kernel's stamp in what came with a message, or zero.
func stamp(control []byte) time.Time {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return time.Time{}
	}
	for _, m := range messages {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SO_TIMESTAMPNS &&
			len(m.Data) >= int(unsafe.Sizeof(unix.Timespec{})) {
			return time.Unix((*unix.Timespec)(unsafe.Pointer(&m.Data[0])).Unix())
		}
	}
	return time.Time{}
}
