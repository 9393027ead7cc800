package sockets

import (
	"errors"
	"io"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Receiver reads from sockets that do not block.
type Receiver struct {
	in  [64 << 10]byte
	oob [64]byte
	iov unix.Iovec
	msg unix.Msghdr

	unstamped int // reads without a stamp
}

// mostUnstamped is how many reads may have no stamp: the kernel begins to stamp a moment after a
// socket has asked for it.
const mostUnstamped = 100

// Receive reads once. The bytes are valid until the next call; if they fill a buffer of 64 KiB,
// there may be more. The stamp is when the last of these bytes arrived, in nanoseconds since 1970.
// It is the time of the read if the kernel has not begun to stamp.
func (r *Receiver) Receive(fd int) (in []byte, stamp int64, err error) {
	r.iov.Base = &r.in[0]
	r.iov.SetLen(len(r.in))
	r.msg = unix.Msghdr{Iov: &r.iov, Control: &r.oob[0]}
	r.msg.SetIovlen(1)
	r.msg.SetControllen(len(r.oob))
	n, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&r.msg)), 0)
	if errno != 0 {
		return nil, 0, errno
	}
	if n == 0 {
		return nil, 0, io.EOF
	}
	head := (*unix.Cmsghdr)(unsafe.Pointer(&r.oob[0]))
	if r.msg.Controllen < unix.SizeofCmsghdr || head.Level != unix.SOL_SOCKET || head.Type != unix.SCM_TIMESTAMPNS {
		if r.unstamped++; r.unstamped > mostUnstamped {
			return nil, 0, errors.New("the kernel did not stamp what it received")
		}
		return r.in[:n], time.Now().UnixNano(), nil
	}
	return r.in[:n], (*unix.Timespec)(unsafe.Pointer(&r.oob[unix.CmsgLen(0)])).Nano(), nil
}
