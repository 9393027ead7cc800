package loadgen

import (
	"io"
	"time"
)

// A wire is a stream of bytes that knows when they came. It is the seam between
// reading and stamping: a stampedBody stamps after each Read, and where the
// kernel stamps packets, the connection beneath can.
type wire interface {
	io.Reader
	// Arrival is when the newest bytes that Read gave reached this machine,
	// and the number of the network read that brought them.
	Arrival() (at time.Time, read int)
}

// A stampedBody is the body of a reply, stamped in user space. It takes each of
// its Reads for one from the network, which holds as long as the reader's room
// is not smaller than net/http's buffer.
type stampedBody struct {
	body  io.Reader
	watch *watch
	at    time.Time
	reads int
}

func (b *stampedBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if n > 0 {
		b.at = time.Now()
		b.reads++
		b.watch.touch(b.at)
	}
	return n, err
}

func (b *stampedBody) Arrival() (time.Time, int) { return b.at, b.reads }
