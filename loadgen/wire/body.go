package wire

import (
	"io"
	"net"
	"net/http"
	"time"

	"github.com/servebench/servebench/loadgen/wire/http1"
)

// A Reader reads a stream of bytes and knows when they arrived. It separates reading from stamping.
type Reader interface {
	io.Reader
	// Arrival says how the newest bytes of the last Read arrived.
	Arrival() Arrival
}

// An Arrival says how bytes arrived. The kernel keeps one stamp for all bytes of a read: the stamp
// of the last byte. The earlier bytes may have arrived at any time since the previous read.
type Arrival struct {
	At     time.Time     // when the newest byte reached this machine
	Read   int           // number of the network read that returned it
	Age    time.Duration // how long it then waited in the socket; 0 unless the kernel stamped it
	kernel bool          // the kernel stamped it

	// Reach bounds how long the oldest byte waited in the socket. It is 0 if the connection gives
	// no kernel stamps.
	Reach time.Duration

	// Mixed says that the read may have included bytes of what follows, which nobody can see yet.
	Mixed bool
}

// taken is when the network read took place.
func (a Arrival) taken() time.Time { return a.At.Add(a.Age) }

// A Body is the body of a reply, and knows when its bytes arrived. On HTTP/1, a reply has its
// connection to itself, and its caller's goroutine reads from it: after a Read, the connection's
// newest stamp belongs to the bytes just read. Otherwise the body stamps each Read itself, as if
// each had gone to the network.
type Body struct {
	// Doubt is the greatest Reach of a network read that went into several Reads.
	Doubt time.Duration

	body    io.Reader
	own     *http1.Body // what body reads from, if our own line carries it
	watch   *Watch
	conn    *stampedConn // nil if the body stamps its Reads itself
	begun   bool         // a Read has returned bytes
	packed  bool         // the bytes were compressed: nobody sees what else came with them
	tls     bool
	arrival Arrival
}

// BodyOf returns the body of reply, which came over conn. It tells w about each Read.
func BodyOf(reply *http.Response, conn net.Conn, w *Watch) Body {
	b := Body{body: reply.Body, watch: w, packed: packed(reply) != ""}
	if lent, ok := reply.Body.(*pooledBody); ok {
		if b.own, ok = lent.ReadCloser.(*http1.Body); ok {
			b.body = b.own
		}
	}
	// On our own line, a reply may claim any version.
	if under := stampedUnder(conn); under != nil && (reply.ProtoMajor == 1 || b.own != nil) {
		b.conn, b.tls, b.arrival = under, under.secured > 0, under.newest()
		// No byte of the reply can have arrived before the request was sent.
		b.arrival.Reach = min(b.arrival.Reach, b.arrival.taken().Sub(w.start))
	}
	return b
}

// Arrival says how the newest bytes of the last Read arrived.
func (b *Body) Arrival() Arrival { return b.arrival }

// Read reads the body and notes when the bytes arrived. Once the watch has ended the request, it
// returns why: while bytes arrive faster than they are read, no read of the socket finds out that
// the connection was closed.
func (b *Body) Read(p []byte) (int, error) {
	if err := b.watch.over(); err != nil {
		return 0, err
	}
	n, err := b.body.Read(p)
	if n == 0 {
		return n, err
	}
	if b.conn == nil {
		b.arrival = Arrival{At: time.Now(), Read: b.arrival.Read + 1}
	} else if newest := b.conn.newest(); newest.Read != b.arrival.Read {
		b.follow(newest)
	} else if b.begun {
		b.Doubt = max(b.Doubt, b.arrival.Reach)
		b.arrival.Mixed = newest.Mixed
	}
	if err == io.EOF || b.packed || b.own != nil && b.own.Ahead {
		b.arrival.Mixed = true // with the end of the body, or what follows
	}
	b.begun = true
	b.watch.touch(b.arrival.taken())
	return n, err
}

// ErrAgain is the error of a Read within Await that found no bytes. It ends nothing.
var ErrAgain error = http1.ErrAgain

// Await calls step until it returns true: at once, and again whenever bytes may have arrived. If
// the connection can do so, a Read within step returns ErrAgain instead of waiting. That saves a
// system call for each event: a separate wait must begin with a read that finds nothing.
func (b *Body) Await(step func() (done bool)) {
	if b.own == nil {
		for !step() {
		}
		return
	}
	b.conn.Await(step)
}

// Disorder is the number of packets that arrived before an earlier packet, since the last call for
// the same connection. It is 0 if the body stamps its Reads itself.
func (b *Body) Disorder() int64 {
	if b.conn == nil {
		return 0
	}
	return b.conn.disorder()
}

// Ending tells the watch that only the end of the reply is still to come.
func (b *Body) Ending() { b.watch.end() }

// follow takes the arrival of a Read that went to the network. net/http waits for the rest of an
// HTTP chunk. So one Read may include several network reads, and may begin with bytes that net/http
// or TLS still had from the previous network read. The oldest bytes are then as old as the bytes of
// that read may be.
func (b *Body) follow(newest Arrival) {
	if several := newest.Read > b.arrival.Read+1; (several || b.tls || !b.begun) && b.conn.kernel != nil {
		newest.Reach = newest.taken().Sub(b.arrival.taken()) + b.arrival.Reach
	}
	b.arrival = newest
}
