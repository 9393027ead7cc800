package wire

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/servebench/servebench/loadgen/wire/http1"
)

// A stampedConn is a connection that notes when its bytes reached this machine: by the kernel's
// stamp if there is one, else by the clock after Read. It is below TLS and net/http. Reads must
// follow one another, as in net/http, but may be on different goroutines. newest may be called at
// any time; it describes the last finished Read.
type stampedConn struct {
	net.Conn
	kernel  *kernelReader // nil if the kernel gives no stamps
	opened  time.Time
	took    time.Duration // to open it through a proxy; 0 without a proxy
	streams bool          // it carries several requests at once, as on HTTP/2
	secured int           // number of TLS layers above it: a proxy and the server may each want one

	// About the newest read that returned bytes. Times count from opened.
	reads  atomic.Int64
	at     atomic.Int64 // arrival of the newest byte
	age    atomic.Int64 // age of that byte; unstamped if the kernel did not stamp it
	oldest atomic.Int64 // no byte can have arrived earlier
	mixed  atomic.Bool  // see arrival

	asked  int64        // reads before the newest request
	asking atomic.Bool  // a request is being written, and no reply has begun
	wrote  atomic.Int64 // when a write of such a request last returned

	// Only Read uses these.
	last    time.Duration // at of the previous read
	emptied bool          // the previous read left no byte in the socket
	floor   time.Duration // no byte that is still in the socket can have arrived earlier
	records tlsRecords

	overtaken int64         // overtakers when the kernel was last asked
	counted   time.Duration // when that was; 0 for never
}

// unstamped is the age of bytes that the kernel did not stamp.
const unstamped = -1

// stamp makes conn stamp. ask asks the kernel for stamps on a socket; if that fails, or conn is no
// TCP connection, the clock after Read is used.
func stamp(conn net.Conn, ask func(fd uintptr) error) *stampedConn {
	return &stampedConn{Conn: conn, kernel: newKernelReader(conn, ask), opened: time.Now()}
}

// Read behaves as the connection's own Read.
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
		c.emptied = c.emptied || err == http1.ErrAgain
		return n, err
	}
	now, age := time.Now(), time.Duration(unstamped)
	if c.kernel.stamped {
		age = max(0, time.Duration(now.UnixNano()-c.kernel.stamp()))
	}
	c.emptied = c.emptied || c.kernel.waited
	before := c.last
	c.mixed.Store(c.mixes(p[:n]) || c.kernel.follows)
	if !c.kernel.repeats {
		c.note(now.Sub(c.opened), age)
		c.kernel.aged(age, c.last-before, c.secured == 0)
	}
	c.emptied = n < len(p) && age != unstamped && !c.kernel.follows
	return n, err
}

// Await lets http1 wait without a Read.
func (c *stampedConn) Await(step func() (done bool)) {
	if c.kernel == nil || !c.kernel.await(step) {
		for !step() {
		}
	}
}

// mixes reports whether p, which was just read, may end in bytes that nobody above sees yet: TLS
// returns nothing of a record before the record is complete, and net/http nothing of a chunk's
// head. Chunks, their heads and events end in a line feed.
func (c *stampedConn) mixes(p []byte) bool {
	switch c.secured {
	case 0:
		return p[len(p)-1] != '\n'
	case 1:
		return c.records.take(p) > 1 || c.records.within()
	}
	return true // nobody sees the records inside the records
}

// silent reports whether a read without a wait finds nothing, not even an end. A socket always
// seems silent, and so does a connection that someone reads.
func (c *stampedConn) silent(idle bool) bool {
	if c.secured > 0 || !idle {
		return true
	}
	_ = c.Conn.SetReadDeadline(time.Unix(1, 0))
	defer c.Conn.SetReadDeadline(time.Time{})
	_, err := c.Conn.Read(make([]byte, 1))
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// countEvery is how often the kernel is asked for packets that overtook others. Short requests
// would notice the cost.
const countEvery = 100 * time.Millisecond

// disorder is the number of packets that arrived before an earlier packet, since it last asked the
// kernel. Requests call it one after the other.
func (c *stampedConn) disorder() int64 {
	if c.counted > 0 && c.last-c.counted < countEvery {
		return 0
	}
	c.counted = max(c.last, 1)
	before := c.overtaken
	c.overtaken = max(before, c.overtakers())
	return c.overtaken - before
}

// ask notes that a request is about to be written.
func (c *stampedConn) ask() {
	c.asked = c.reads.Load()
	c.asking.Store(true)
}

// unanswered reports whether nothing has arrived since ask. Under TLS, where alerts and tickets
// arrive as well, it relies on the trace of the reply's first byte.
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

// note records a read at now that returned bytes. If the previous read drained the socket, these
// bytes cannot have arrived before that read. This also catches clock steps.
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

// newest describes the newest read.
func (c *stampedConn) newest() Arrival {
	at, age := time.Duration(c.at.Load()), time.Duration(c.age.Load())
	a := Arrival{At: c.opened.Add(at), Read: int(c.reads.Load()), Age: max(0, age), kernel: age != unstamped}
	if c.kernel != nil {
		a.Reach = at + a.Age - time.Duration(c.oldest.Load())
		a.Mixed = c.mixed.Load()
	}
	return a
}

// SyscallConn returns the socket, if there is one.
func (c *stampedConn) SyscallConn() (syscall.RawConn, error) {
	if conn, ok := c.Conn.(syscall.Conn); ok {
		return conn.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// stampedUnder is the stampedConn that conn is or, under TLS, uses; nil if there is none.
func stampedUnder(conn net.Conn) *stampedConn {
	for {
		switch c := conn.(type) {
		case *stampedConn:
			return c
		case *tls.Conn:
			conn = c.NetConn()
		case *settledConn:
			conn = c.Conn
		default:
			return nil
		}
	}
}
