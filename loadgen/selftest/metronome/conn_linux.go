package metronome

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A kernelConn lets the kernel stamp what arrives. Its writes bypass the runtime's poller, which
// would wait until the data fits.
type kernelConn struct {
	*net.TCPConn
	raw syscall.RawConn
	at  time.Time

	send func(fd uintptr) bool // made once, so that a write does not allocate
	out  []byte
	n    int
	err  error
}

func newConn(c net.Conn) conn {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return &plainConn{Conn: c}
	}
	raw, err := tcp.SyscallConn()
	if err != nil || tcp.SetWriteBuffer(unread) != nil {
		return &plainConn{Conn: c}
	}
	var refused error
	err = raw.Control(func(fd uintptr) {
		refused = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	})
	if err != nil || refused != nil {
		return &plainConn{Conn: c}
	}
	k := &kernelConn{TCPConn: tcp, raw: raw}
	k.send = func(fd uintptr) bool {
		k.n, k.err = unix.Write(int(fd), k.out)
		return true
	}
	return k
}

func (k *kernelConn) Read(p []byte) (n int, err error) {
	var control [128]byte
	var controls int
	waited := k.raw.Read(func(fd uintptr) bool {
		n, controls, _, _, err = unix.Recvmsg(int(fd), p, control[:], unix.MSG_DONTWAIT)
		return err != unix.EAGAIN
	})
	switch {
	case waited != nil:
		return 0, waited
	case err != nil:
		return 0, os.NewSyscallError("recvmsg", err)
	case n == 0:
		return 0, io.EOF
	}
	k.at = time.Now()
	// There is at most one message, since we asked for no other.
	if messages, err := unix.ParseSocketControlMessage(control[:controls]); err == nil && len(messages) == 1 {
		var stamp unix.Timespec
		if _, err := binary.Decode(messages[0].Data, binary.NativeEndian, &stamp); err == nil {
			k.at = k.at.Add(-max(k.at.Sub(time.Unix(stamp.Unix())), 0))
		}
	}
	return n, nil
}

func (k *kernelConn) arrived() time.Time { return k.at }

func (k *kernelConn) writeNow(p []byte) error {
	k.out = p
	if err := k.raw.Write(k.send); err != nil {
		return err
	}
	switch {
	case k.err == unix.EAGAIN || k.err == nil && k.n < len(p):
		return errFull
	case k.err != nil:
		return os.NewSyscallError("write", k.err)
	}
	return nil
}
