package wire

import (
	"bytes"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// mostPieces and batchSize (in bytes) bound what is taken from a socket at once.
	mostPieces = 32
	batchSize  = 8 << 10
	// leastUsual is the least length of a read that may be a whole event, in bytes.
	leastUsual = 64
)

// An ancillary is what the kernel says about a read.
type ancillary struct {
	stampHeader unix.Cmsghdr
	at          unix.Timespec
	leftHeader  unix.Cmsghdr
	left        int32
	_           int32
}

// stamped reports whether a message of that length has a stamp.
func (c *ancillary) stamped(length int) bool {
	return length > 0 && c.stampHeader.Level == unix.SOL_SOCKET && c.stampHeader.Type == unix.SCM_TIMESTAMPNS
}

// drained reports that the read left nothing in the socket.
func (c *ancillary) drained(length int) bool {
	return length > int(unsafe.Offsetof(c.leftHeader)) && c.leftHeader.Level == unix.IPPROTO_TCP &&
		c.leftHeader.Type == unix.TCP_CM_INQ && c.left == 0
}

// A batch has several events that waited in a socket together, each read up to its own end: the
// kernel then gives the stamp of the segment in which the event ended. Do not copy a batch: its
// messages point into it.
type batch struct {
	buf    [batchSize]byte
	pieces [mostPieces]piece
	next   int // first piece not yet taken
	n      int // pieces

	distinct bool // the kernel kept several stamps

	messages [mostPieces]struct {
		header unix.Msghdr
		n      uint32
	}
	into     [mostPieces]unix.Iovec
	controls [mostPieces]ancillary
}

// A piece is the bytes of an event, or several whose ends look like none.
type piece struct {
	rest    []byte
	stamp   int64 // nanoseconds of Unix time
	follows bool  // what follows has the same stamp: the kernel has joined their segments
	repeats bool  // the piece before has the same stamp
}

// A splitter reads events that waited together one by one, if we read late. It costs nothing while we
// read in time, and little while the kernel has one stamp for all of them.
type splitter struct {
	tally   *Tally        // knows whether other connections were read late; may be nil
	trial   *trial        // of the tally
	late    bool          // the last read was so late that the next event may have come meanwhile
	from    time.Duration // how late that is
	off     bool          // there are no events to be seen, as under TLS
	usual   int           // bytes of a short event, or of a shorter head; 0 before the first
	waiting int32         // bytes in the socket
	batch   *batch        // what is not yet taken; nil for nothing
}

// share makes s heed whether other connections were read late.
func (s *splitter) share(t *Tally) {
	if s.tally = t; t != nil {
		s.trial = &t.splits
	}
}

// split reads into s.batch if several events seem to wait in fd. drained reports that it left nothing
// there.
func (s *splitter) split(fd uintptr) (done, drained bool) {
	if s.off || s.usual == 0 || !s.late && !s.tally.behindBy(s.from) || !s.trial.worth() {
		return false, false
	}
	gained := false
	defer func() { s.trial.tried(gained) }()
	_, _, err := unix.RawSyscall(unix.SYS_IOCTL, fd, unix.TIOCINQ, uintptr(unsafe.Pointer(&s.waiting)))
	if err != 0 || int(s.waiting) < s.usual+s.usual/2 {
		return false, false
	}
	s.batch = batches.Get().(*batch)
	if done, drained = s.batch.take(fd); !done {
		s.release()
		s.usual = int(s.waiting) // a whole event, or less
		return false, false
	}
	s.usual = max(leastUsual, len(s.batch.pieces[0].rest))
	gained = s.batch.distinct
	return true, drained
}

// deal copies the next piece to p, or what fits. The piece's rest is empty unless it does not fit.
func (s *splitter) deal(p []byte) (n int, dealt piece) {
	next := &s.batch.pieces[s.batch.next]
	n, dealt = copy(p, next.rest), *next
	if next.rest = next.rest[n:]; len(next.rest) > 0 {
		next.repeats, dealt.follows = true, true
		return n, dealt
	}
	if s.batch.next++; s.batch.next == s.batch.n {
		s.release()
	}
	return n, dealt
}

func (s *splitter) release() {
	batches.Put(s.batch)
	s.batch = nil
}

// read notes the length of a read that was not split.
func (s *splitter) read(n int) {
	if n >= leastUsual && (s.usual == 0 || n < s.usual) {
		s.usual = n
	}
}

var batches = sync.Pool{New: func() any { return newBatch() }}

func newBatch() *batch {
	b := new(batch)
	for i := range b.messages {
		h := &b.messages[i].header
		h.Iov, h.Control = &b.into[i], (*byte)(unsafe.Pointer(&b.controls[i]))
		h.SetIovlen(1)
	}
	return b
}

// take reads what waits in fd, unless that is at most one event. drained reports that it left
// nothing there.
func (b *batch) take(fd uintptr) (taken, drained bool) {
	waiting, newest, ok := b.peek(fd)
	if !ok {
		return false, false
	}
	b.next, b.n = 0, 0
	start := 0
	for b.n < mostPieces {
		end := eventEnd(b.buf[start:waiting])
		if end == 0 {
			break
		}
		b.point(b.n, start, start+end)
		start += end
		b.n++
	}
	if b.n == 0 || b.n == 1 && start == waiting {
		return false, false
	}
	n, _, err := unix.RawSyscall6(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(&b.messages)), uintptr(b.n),
		unix.MSG_DONTWAIT, 0, 0)
	if err != 0 || n == 0 {
		return false, false // a plain read tells why
	}
	b.n = int(n)
	return true, b.settle(newest, start < waiting || waiting == len(b.buf))
}

// peek copies what waits in fd to b.buf, and returns its length and the stamp of its newest byte.
func (b *batch) peek(fd uintptr) (n int, newest int64, ok bool) {
	b.point(0, 0, len(b.buf))
	m := &b.messages[0].header
	got, _, err := unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(m)), unix.MSG_PEEK|unix.MSG_DONTWAIT)
	if err != 0 || !b.controls[0].stamped(int(m.Controllen)) {
		return 0, 0, false
	}
	return int(got), b.controls[0].at.Nano(), true
}

// point makes message i read into b.buf[start:end].
func (b *batch) point(i, start, end int) {
	b.into[i].Base = &b.buf[start]
	b.into[i].SetLen(end - start)
	b.messages[i].header.SetControllen(int(unsafe.Sizeof(b.controls[i])))
	b.pieces[i].rest = b.buf[start:end]
}

// settle completes the pieces that were read. newest is the stamp of the newest byte at the peek:
// what the kernel joins to a segment afterwards gives it a later stamp. more says that bytes were
// left at the peek.
func (b *batch) settle(newest int64, more bool) (drained bool) {
	for i := range b.n {
		p := &b.pieces[i]
		p.rest = p.rest[:b.messages[i].n]
		if p.stamp = newest; b.controls[i].stamped(int(b.messages[i].header.Controllen)) {
			p.stamp = min(b.controls[i].at.Nano(), newest)
		}
		p.repeats = i > 0 && p.stamp == b.pieces[i-1].stamp
		p.follows = i == b.n-1 && more && p.stamp == newest
		if i > 0 {
			b.pieces[i-1].follows = p.repeats
		}
	}
	b.distinct = b.pieces[0].stamp != newest
	last := b.n - 1
	return b.controls[last].drained(int(b.messages[last].header.Controllen))
}

// eventEnd is the length of the first event in p with its blank line and the end of its HTTP chunk;
// 0 if it is not there.
func eventEnd(p []byte) int {
	for at := 0; ; {
		lf := bytes.IndexByte(p[at:], '\n')
		if lf < 0 {
			return 0
		}
		at += lf + 1
		blank := lineEnd(p[at:])
		if blank == 0 {
			continue
		}
		at += blank
		if bytes.HasPrefix(p[at:], []byte("\r\n")) {
			at += len("\r\n")
		}
		return at
	}
}

// lineEnd is the length of the line end at the start of p, 0 for none.
func lineEnd(p []byte) int {
	switch {
	case bytes.HasPrefix(p, []byte("\n")):
		return 1
	case bytes.HasPrefix(p, []byte("\r\n")):
		return 2
	}
	return 0
}
