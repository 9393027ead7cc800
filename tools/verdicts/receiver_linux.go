package main

import (
	"io"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A receiver reads from sockets with the kernel's stamp of what it reads.
type receiver struct {
	in  [64 << 10]byte
	oob [64]byte
	iov unix.Iovec
	msg unix.Msghdr
}

// receive reads once. The stamp is when the last of these bytes arrived, in nanoseconds since 1970.
// It is the time of the read if the kernel has not begun to stamp: that takes it a moment after the
// first socket has asked for stamps.
func (r *receiver) receive(fd int) (in []byte, stamp int64, err error) {
	r.iov.Base = &r.in[0]
	r.iov.SetLen(len(r.in))
	r.msg = unix.Msghdr{Iov: &r.iov, Control: &r.oob[0]}
	r.msg.SetIovlen(1)
	r.msg.SetControllen(len(r.oob))
	n, _, errno := unix.Syscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&r.msg)), 0)
	if errno != 0 {
		return nil, 0, errno
	}
	if n == 0 {
		return nil, 0, io.EOF
	}
	head := (*unix.Cmsghdr)(unsafe.Pointer(&r.oob[0]))
	if r.msg.Controllen < unix.SizeofCmsghdr || head.Level != unix.SOL_SOCKET || head.Type != unix.SCM_TIMESTAMPNS {
		return r.in[:n], time.Now().UnixNano(), nil
	}
	return r.in[:n], (*unix.Timespec)(unsafe.Pointer(&r.oob[unix.CmsgLen(0)])).Nano(), nil
}
