package wire

import (
	"bytes"
	"net"
	"time"
)

// settledWithin is how long a new HTTP/2 connection waits for the server's settings. They come first,
// and at once.
const settledWithin = 250 * time.Millisecond

// The types of TLS records whose writes a settledConn looks for (RFC 8446, section 5.1).
const (
	handshakeRecord   = 22
	applicationRecord = 23
)

// A settledConn is below HTTP/2, and below its TLS. It waits for the server's settings after it wrote the
// client's preface (RFC 9113, section 3.4). net/http would at once send as many requests as were waiting
// for the connection. If the server allows fewer streams it refuses the others, and some servers then
// close the connection, with the streams that they took.
type settledConn struct {
	net.Conn        // a *stampedConn
	tls      bool   // a TLS handshake has begun
	settled  bool   // the preface was written
	early    []byte // what came before the first Read after that
	err      error  // and how that ended
}

// Write waits after the preface. Nothing else is written or read until that is over.
func (c *settledConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if c.settled || err != nil || len(p) == 0 {
		return n, err
	}
	c.tls = c.tls || p[0] == handshakeRecord
	if c.tls && p[0] == applicationRecord || bytes.HasPrefix(p, []byte("PRI * HTTP/2.0")) {
		c.settled = true
		c.settle()
	}
	return n, nil
}

// settle reads what comes first.
func (c *settledConn) settle() {
	p := make([]byte, 4<<10)
	_ = c.Conn.SetReadDeadline(time.Now().Add(settledWithin))
	n, err := c.Conn.Read(p)
	_ = c.Conn.SetReadDeadline(time.Time{})
	if c.early = p[:n]; err != nil && !isTimeout(err) {
		c.err = err
	}
}

func (c *settledConn) Read(p []byte) (int, error) {
	if len(c.early) > 0 {
		n := copy(p, c.early)
		c.early = c.early[n:]
		return n, nil
	}
	if c.err != nil {
		return 0, c.err
	}
	return c.Conn.Read(p)
}
