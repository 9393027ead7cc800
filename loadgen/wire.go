package loadgen

import (
	"io"
	"net"
	"net/http"
	"time"

	"github.com/servebench/servebench/metrics"
)

// A wire reads a stream of bytes and knows when they came. It is the seam between
// reading and stamping.
type wire interface {
	io.Reader
	// Arrival is how the newest bytes came that Read gave.
	Arrival() arrival
}

// An arrival is how bytes came. The kernel keeps one stamp for all that a read
// gives, that of the last byte: what stands before it in the same read may have
// come at any time since the read before.
type arrival struct {
	at     time.Time     // when the newest byte reached this machine
	read   int           // number of the network read that brought it
	age    time.Duration // how long it then lay unread; 0 unless the kernel stamped it
	kernel bool          // the kernel stamped it

	// reach is how long the oldest byte may have lain unread. It is 0 where the
	// connection gives no kernel stamps.
	reach time.Duration

	// mixed says that the read may have given bytes of what comes next, too, which
	// nobody can see yet.
	mixed bool
}

// taken is when the network read took place.
func (a arrival) taken() time.Time { return a.at.Add(a.age) }

// A stampedBody is the body of a reply, and knows when its bytes came. A reply that has its connection to
// itself (HTTP/1) is read by its caller's own goroutine, so that after a Read
// the connection's newest stamp is that of the bytes just read. Otherwise the
// body stamps after each Read, and takes that for one from the network.
type stampedBody struct {
	// doubt is the greatest reach of a network read that went into several Reads.
	doubt time.Duration

	body    io.Reader
	watch   *watch
	conn    *stampedConn // nil: the body stamps
	begun   bool         // a Read has given bytes
	packed  bool         // the bytes were compressed: nobody sees what else came with them
	tls     bool
	arrival arrival
}

// stampedBodyOf is the body of reply, which came over conn. It tells w of each Read.
func stampedBodyOf(reply *http.Response, conn net.Conn, w *watch) stampedBody {
	b := stampedBody{body: reply.Body, watch: w, packed: packed(reply) != ""}
	if under := stampedUnder(conn); under != nil && reply.ProtoMajor == 1 {
		b.conn, b.tls, b.arrival = under, under.secured > 0, under.newest()
		// No byte of the reply can have come before the request was sent.
		b.arrival.reach = min(b.arrival.reach, b.arrival.taken().Sub(w.start))
	}
	return b
}

// Arrival is how the newest bytes came that Read gave.
func (b *stampedBody) Arrival() arrival { return b.arrival }

// Read reads the body and takes note of when the bytes came.
func (b *stampedBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if n == 0 {
		return n, err
	}
	if b.conn == nil {
		b.arrival = arrival{at: time.Now(), read: b.arrival.read + 1}
	} else if newest := b.conn.newest(); newest.read != b.arrival.read {
		b.follow(newest)
	} else if b.begun {
		b.doubt = max(b.doubt, b.arrival.reach)
	}
	if err == io.EOF || b.packed {
		b.arrival.mixed = true // with the end of the body, or what follows
	}
	b.begun = true
	b.watch.touch(b.arrival.taken())
	return n, err
}

// disorder is how many packets came before an earlier one since the last call for the
// same connection. It is 0 where the body stamps.
func (b *stampedBody) disorder() int64 {
	if b.conn == nil {
		return 0
	}
	return b.conn.disorder()
}

// endWithin ends the request with a failure unless it has ended within d.
func (b *stampedBody) endWithin(d time.Duration, fail func() *metrics.Failure) {
	b.watch.after(d, fail)
}

// follow takes the arrival of a Read that went to the network. net/http waits
// for the rest of an HTTP chunk, so that one Read may have taken several from
// the network, and may have begun with what net/http or TLS still had of the
// one before. The oldest bytes are then as old as that one's may be.
func (b *stampedBody) follow(newest arrival) {
	if several := newest.read > b.arrival.read+1; (several || b.tls || !b.begun) && b.conn.kernel != nil {
		newest.reach = newest.taken().Sub(b.arrival.taken()) + b.arrival.reach
	}
	b.arrival = newest
}
