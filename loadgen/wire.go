package loadgen

import (
	"io"
	"net"
	"time"
)

// A wire is a stream of bytes that knows when they came. It is the seam between
// reading and stamping.
type wire interface {
	io.Reader
	// Arrival tells of the newest bytes that Read gave.
	Arrival() arrival
}

// An arrival is how bytes came. The kernel keeps one stamp for all that a read
// gives, that of the last; what came before it in the same read may have lain
// for anything up to reach.
type arrival struct {
	at     time.Time     // when the last of them reached this machine
	read   int           // number of the network read that brought that
	age    time.Duration // how long it then lay unread; 0 unless the kernel stamped it
	reach  time.Duration // how long the first of them may have lain unread; as age
	kernel bool          // the kernel stamped it
}

// A stampedBody is the body of a reply. What it knows of arrivals comes from the
// connection, if that carries this reply alone: an HTTP/1.1 body is read by its
// caller's own goroutine, so that after a Read the connection's newest stamp is
// that of the bytes just read. Otherwise it stamps after each Read, and takes
// that for one from the network.
type stampedBody struct {
	body    io.Reader
	watch   *watch
	conn    *stampedConn // nil when it carries other replies, too, or is not ours
	arrival arrival
}

func (b *stampedBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if n > 0 {
		b.arrival = arrival{at: time.Now(), read: b.arrival.read + 1}
		b.watch.touch(b.arrival.at)
	}
	return n, err
}

func (b *stampedBody) Arrival() arrival { return b.arrival }

// A stampedConn is a connection that stamps what arrives.
type stampedConn struct {
	net.Conn
	warmed bool // opened beforehand
}

// stamp makes conn stamp.
func stamp(conn net.Conn) *stampedConn { return &stampedConn{Conn: conn} }
