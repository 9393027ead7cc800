package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/servebench/servebench/loadgen/wire/http1"
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
	control ancillary
	splits  splitter

	n       int
	err     syscall.Errno
	waited  bool // the socket was empty at first
	stamped bool // control holds the stamp of the bytes just read
	follows bool // bytes that come next have the same stamp
	repeats bool // bytes that came before have the same stamp

	// While a step of await runs:
	inStep  bool
	fd      uintptr
	drained bool // nothing is left to read, and the kernel will tell when there is

	mu       sync.Mutex
	awaiting bool
	woken    bool        // by a deadline, which still stands
	look     *time.Timer // see lookAgain
}

// lookAgain is how often a reader looks at a socket although the kernel has not told it to. If a
// connection is reset between its last bytes and their read, the kernel tells only once.
const lookAgain = 5 * time.Second

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
	// Without it, a read has to find out that nothing is left.
	_ = socket.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_INQ, 1) })
	r.message.Iov = &r.into
	r.message.SetIovlen(1)
	r.message.Control = (*byte)(unsafe.Pointer(&r.control))
	return r
}

// read returns bytes and errors as the connection's own Read does. p must not be empty.
func (r *kernelReader) read(p []byte) (int, error) {
	r.waited, r.stamped, r.follows, r.repeats = false, false, false, false
	if r.splits.batch != nil {
		return r.deal(p), nil
	}
	r.into.Base = &p[0]
	r.into.SetLen(len(p))
	var err error
	switch {
	case !r.inStep:
		err = r.socket.Read(r.receive)
	case r.drained || !r.try(r.fd):
		err = http1.ErrAgain
	}
	r.into.Base = nil
	switch {
	case err == http1.ErrAgain:
		return 0, err
	case err != nil:
		if raw, ok := errors.AsType[*net.OpError](err); ok {
			err = raw.Err
		}
		return 0, r.failure(err)
	case r.splits.batch != nil:
		return r.deal(p), nil
	case r.err != 0:
		return 0, r.failure(os.NewSyscallError("read", r.err))
	case r.n == 0:
		return 0, io.EOF
	}
	r.splits.read(r.n)
	return r.n, nil
}

// deal returns the next of several events that were read together.
func (r *kernelReader) deal(p []byte) int {
	n, piece := r.splits.deal(p)
	r.stamped, r.follows, r.repeats = true, piece.follows, piece.repeats
	r.control.at = unix.NsecToTimespec(piece.stamp)
	return n
}

// aged says how old the bytes of the last read were, how long after the ones before they came, and
// whether they were plain text. Half that time is late: the next read may then be later still.
func (r *kernelReader) aged(age, after time.Duration, plain bool) {
	s := &r.splits
	s.from = max(lateAge, after/2)
	s.late, s.off = age > s.from, !plain
}

// share makes r heed whether other connections were read late.
func (r *kernelReader) share(t *Tally) { r.splits.share(t) }

// try reads once. It returns false if the socket is empty and the caller must wait.
func (r *kernelReader) try(fd uintptr) bool {
	if split, drained := r.splits.split(fd); split {
		r.drained = drained
		synchronize(fd)
		return true
	}
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
		length := int(r.message.Controllen)
		r.stamped = err == 0 && r.control.stamped(length)
		r.drained = r.stamped && r.control.drained(length)
		synchronize(fd)
		return true
	}
}

// await calls step until it returns true: at once, and again whenever bytes may have arrived. While
// step runs, read does not wait. It returns false if the connection ends before, which the next
// read then says.
func (r *kernelReader) await(step func() (done bool)) (done bool) {
	r.watch(true)
	defer r.watch(false)
	for {
		err := r.socket.Read(func(fd uintptr) bool {
			r.inStep, r.fd, r.drained = true, fd, false
			done = step()
			r.inStep = false
			return done
		})
		if done || !errors.Is(err, os.ErrDeadlineExceeded) {
			return done
		}
		r.watch(true)
	}
}

// watch begins and ends looking at the socket from time to time. It drops the deadline of a wake,
// which may be a late one, from an earlier wait.
func (r *kernelReader) watch(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.awaiting = on
	if r.woken {
		r.woken = false
		_ = r.conn.SetReadDeadline(time.Time{})
	}
	switch {
	case !on:
		r.look.Stop()
	case r.look == nil:
		r.look = time.AfterFunc(lookAgain, r.wake)
	default:
		r.look.Reset(lookAgain)
	}
}

// wake makes a waiting reader look at its socket.
func (r *kernelReader) wake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.awaiting {
		r.woken = true
		_ = r.conn.SetReadDeadline(time.Unix(1, 0))
	}
}

// stamp is when the newest byte arrived, in nanoseconds of Unix time.
func (r *kernelReader) stamp() int64 { return r.control.at.Nano() }

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

// alive reports whether the connection can carry a request: the other side has not closed it. If it
// cannot tell, it returns true. Unread bytes are fine under TLS, whose servers send tickets after
// the handshake; otherwise they would pass for the next reply. idle says that nobody reads from it.
func (c *stampedConn) alive(idle bool) bool {
	if idle && c.kernel != nil && c.kernel.splits.batch != nil {
		return false // events of the last reply are left: a reader would find them itself
	}
	socket, err := c.SyscallConn()
	if err != nil {
		return c.silent(idle)
	}
	events := int16(unix.EPOLLRDHUP) // POLLRDHUP is the same number
	if c.secured == 0 {
		events |= unix.POLLIN
	}
	alive := false // and stays so if we have closed it ourselves
	_ = socket.Control(func(fd uintptr) {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: events}}, 0)
		alive = n == 0 || err != nil
	})
	return alive
}
