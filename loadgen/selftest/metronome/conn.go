package metronome

import (
	"errors"
	"net"
	"os"
	"time"
)

// A conn is a connection of a Server. If the system allows it, the kernel stamps its reads and its
// writes never wait.
type conn interface {
	net.Conn
	arrived() time.Time      // when the bytes of the last Read arrived
	writeNow(p []byte) error // writes all of p without waiting; errFull if it does not fit
}

const (
	// patience limits one write on systems where writes must wait.
	patience = 10 * time.Millisecond
	// unread is how many bytes may wait for a client that does not read, apart from what its own
	// socket holds: some hundred events.
	unread = 64 << 10
)

// errFull says that an event does not fit into a socket's buffer.
var errFull = errors.New("the client does not read")

// A plainConn stamps what it has read, and its writes wait for at most patience.
type plainConn struct {
	net.Conn
	at time.Time
}

func (c *plainConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.at = time.Now()
	}
	return n, err
}

func (c *plainConn) arrived() time.Time { return c.at }

func (c *plainConn) writeNow(p []byte) error {
	if err := c.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	defer c.SetWriteDeadline(time.Time{})
	_, err := c.Write(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errFull
	}
	return err
}
