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

// A kernelLine has the kernel stamp what comes, and writes past the runtime's
// poller, which would wait for room.
type kernelLine struct {
	*net.TCPConn
	raw syscall.RawConn
	at  time.Time

	send func(fd uintptr) bool // made once, so that a write does not allocate
	out  []byte
	n    int
	err  error
}

func newLine(conn net.Conn) line {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return &plainLine{Conn: conn}
	}
	raw, err := tcp.SyscallConn()
	if err != nil || tcp.SetWriteBuffer(unread) != nil {
		return &plainLine{Conn: conn}
	}
	var refused error
	err = raw.Control(func(fd uintptr) {
		refused = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	})
	if err != nil || refused != nil {
		return &plainLine{Conn: conn}
	}
	l := &kernelLine{TCPConn: tcp, raw: raw}
	l.send = func(fd uintptr) bool {
		l.n, l.err = unix.Write(int(fd), l.out)
		return true
	}
	return l
}

func (l *kernelLine) Read(p []byte) (n int, err error) {
	var control [128]byte
	var controls int
	waited := l.raw.Read(func(fd uintptr) bool {
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
	l.at = time.Now()
	if stamp := kernelStamp(control[:controls]); stamp > 0 {
		l.at = l.at.Add(-max(l.at.Sub(time.Unix(0, stamp)), 0))
	}
	return n, nil
}

// kernelStamp finds the stamp among a read's control messages, in nanoseconds
// since 1970; 0 without one, as of what came before stamping took effect.
func kernelStamp(control []byte) int64 {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return 0
	}
	for _, m := range messages {
		var at unix.Timespec
		if m.Header.Level != unix.SOL_SOCKET || m.Header.Type != unix.SCM_TIMESTAMPNS {
			continue
		}
		if _, err := binary.Decode(m.Data, binary.NativeEndian, &at); err == nil {
			return at.Nano()
		}
	}
	return 0
}

func (l *kernelLine) arrived() time.Time { return l.at }

func (l *kernelLine) writeNow(p []byte) error {
	l.out = p
	if err := l.raw.Write(l.send); err != nil {
		return err
	}
	switch {
	case l.err == unix.EAGAIN || l.err == nil && l.n < len(p):
		return errFull
	case l.err != nil:
		return os.NewSyscallError("write", l.err)
	}
	return nil
}
