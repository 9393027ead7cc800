package wire

import (
	"crypto/tls"
	"errors"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// A stampedConn is a connection that notes when the bytes it gives reached this
// machine: by the kernel's stamp where there is one, else by the clock after
// Read. It lies below TLS and net/http. Reads must follow one another, as
// net/http's do, though on several goroutines; newest may be called at any time,
// and means the Read before as long as there is no other under way.
type stampedConn struct {
	net.Conn
	kernel  *kernelReader // nil where the kernel gives no stamps
	opened  time.Time
	took    time.Duration // to open it through a proxy; 0 without one
	secured int           // times that TLS lies above it: a proxy and the server may each want it

	// Of the newest read that gave bytes. Times count from opened.
	reads  atomic.Int64
	at     atomic.Int64 // arrival of the newest byte
	age    atomic.Int64 // of that; unstamped when the kernel did not stamp it
	oldest atomic.Int64 // no byte can have come before
	mixed  atomic.Bool  // see arrival

	asked  int64        // reads before the newest request
	asking atomic.Bool  // a request is being written, to which no reply has begun
	wrote  atomic.Int64 // when a write of such a request returned last

	// What only Read knows.
	last    time.Duration // at of the read before
	emptied bool          // that left no byte unread
	floor   time.Duration // no byte that is still to be read can have come before
	records tlsRecords

	overtaken int64 // packets that had come before an earlier one when the request before ended
}

// unstamped is the age of bytes that the kernel did not stamp.
const unstamped = -1

// stamp makes conn stamp. Ask asks the kernel for its stamps on a socket; where
// that is refused, or conn is no TCP connection, they are taken here.
func stamp(conn net.Conn, ask func(fd uintptr) error) *stampedConn {
	return &stampedConn{Conn: conn, kernel: newKernelReader(conn, ask), opened: time.Now()}
}

// Read is the connection's own Read in all that can be seen of it.
func (c *stampedConn) Read(p []byte) (int, error) {
	if c.kernel == nil || len(p) == 0 {
		n, err := c.Conn.Read(p)
		if n > 0 {
			c.note(time.Since(c.opened), unstamped)
		}
		return n, err
	}
	n, err := c.kernel.read(p)
	if n == 0 {
		return n, err
	}
	now, age := time.Now(), time.Duration(unstamped)
	if c.kernel.stamped {
		age = max(0, time.Duration(now.UnixNano()-c.kernel.stamp()))
	}
	c.emptied = c.emptied || c.kernel.waited
	c.mixed.Store(c.mixes(p[:n]))
	c.note(now.Sub(c.opened), age)
	c.emptied = n < len(p) && age != unstamped
	return n, err
}

// mixes reports whether p, which was read, may have bytes at its end that nobody
// above sees yet: TLS gives nothing of a record before all of it has come, and
// net/http nothing of a chunk's head. Chunks, their heads and events end in a
// line feed.
func (c *stampedConn) mixes(p []byte) bool {
	switch c.secured {
	case 0:
		return p[len(p)-1] != '\n'
	case 1:
		return c.records.take(p) > 1 || c.records.within()
	}
	return true // nobody sees the records inside the records
}

// disorder is how many packets have come before an earlier one since it was asked
// last. Requests ask it one after the other.
func (c *stampedConn) disorder() int64 {
	before := c.overtaken
	c.overtaken = max(before, c.overtakers())
	return c.overtaken - before
}

// ask notes that a request is about to be written.
func (c *stampedConn) ask() {
	c.asked = c.reads.Load()
	c.asking.Store(true)
}

// unanswered says whether nothing has come since ask. Under TLS, where alerts and
// tickets come, too, it is what a trace was told of a reply's first byte.
func (c *stampedConn) unanswered() bool {
	if c.secured > 0 {
		return c.asking.Load()
	}
	return c.reads.Load() == c.asked
}

// Write notes when it returned, if it wrote a request.
func (c *stampedConn) Write(p []byte) (int, error) {
	asking := c.asking.Load()
	n, err := c.Conn.Write(p)
	if asking && err == nil {
		c.wrote.Store(int64(time.Since(c.opened)))
	}
	return n, err
}

// written is when the newest request was written, if a reply to it has begun.
func (c *stampedConn) written() time.Time { return c.opened.Add(time.Duration(c.wrote.Load())) }

// note records a read at now that gave bytes. If the read before drained the socket,
// these bytes cannot have arrived before it. That also catches clocks that were set.
func (c *stampedConn) note(now, age time.Duration) {
	if c.emptied {
		c.floor = c.last
	}
	at := now - max(0, age)
	if at < c.floor {
		at, age = c.floor, now-c.floor
	}
	c.last = at
	c.at.Store(int64(at))
	c.age.Store(int64(age))
	c.oldest.Store(int64(c.floor))
	c.reads.Add(1)
}

// newest tells of the newest read.
func (c *stampedConn) newest() Arrival {
	at, age := time.Duration(c.at.Load()), time.Duration(c.age.Load())
	a := Arrival{At: c.opened.Add(at), Read: int(c.reads.Load()), Age: max(0, age), kernel: age != unstamped}
	if c.kernel != nil {
		a.Reach = at + a.Age - time.Duration(c.oldest.Load())
		a.Mixed = c.mixed.Load()
	}
	return a
}

// SyscallConn gives the socket, if there is one.
func (c *stampedConn) SyscallConn() (syscall.RawConn, error) {
	if conn, ok := c.Conn.(syscall.Conn); ok {
		return conn.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// stampedUnder is the stampedConn that conn is or, under TLS, goes through; nil
// when it is neither.
func stampedUnder(conn net.Conn) *stampedConn {
	for {
		switch c := conn.(type) {
		case *stampedConn:
			return c
		case *tls.Conn:
			conn = c.NetConn()
		default:
			return nil
		}
	}
}
