package http1

import (
	"errors"
	"io"
	"net/http"

	"golang.org/x/net/http/httpguts"
)

// A framing says how a body ends (RFC 9112, section 6.3).
type framing int

const (
	empty      framing = iota // it has none
	chunkwise                 // after its last chunk
	counted                   // after so many bytes
	untilClose                // with the connection
)

var errBodyClosed = errors.New("the body of the reply was closed")

// A Body is the body of a reply. It reads from the connection straight into the caller's buffer,
// once for each Read that returns bytes, and takes the framing out in place.
type Body struct {
	// Ahead says that the last Read also took bytes from the connection that follow what it
	// returned and the end of its chunk: the head of the next chunk, or the end of the body.
	Ahead bool

	conn    *Conn
	framing framing
	last    bool // the connection cannot be used after this reply
	chunks  chunks
	left    int64  // bytes that are still to come, if counted
	rest    []byte // came with the header
	err     error  // what ended the body
}

func newBody(c *Conn, reply *http.Response, rest []byte) *Body {
	b := &Body{conn: c, rest: rest}
	switch {
	case reply.StatusCode == http.StatusSwitchingProtocols && reply.Header.Get("Upgrade") != "" &&
		httpguts.HeaderValuesContainsToken(reply.Header["Connection"], "Upgrade"):
		b.framing = untilClose
	case reply.Body == http.NoBody:
	case len(reply.TransferEncoding) > 0:
		b.framing = chunkwise
	case reply.ContentLength >= 0:
		b.framing, b.left = counted, reply.ContentLength
	default:
		b.framing = untilClose
	}
	return b
}

// Read is an io.Reader. It may return bytes together with io.EOF. After ErrAgain, it goes on where
// it was.
func (b *Body) Read(p []byte) (int, error) {
	for len(p) > 0 && b.err == nil {
		n, err := b.read(p)
		if err == ErrAgain {
			return 0, err
		}
		payload, used := b.take(p[:n])
		switch {
		case b.err != nil: // the end, or broken
			b.finish(b.err == io.EOF && used == n && len(b.rest) == 0)
		case err != nil:
			b.err = b.cut(err)
			b.finish(false)
		}
		if payload > 0 {
			return payload, b.err
		}
	}
	return 0, b.err
}

// read gets the next bytes, with their framing.
func (b *Body) read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		n, err := b.conn.conn.Read(p)
		if n > 0 {
			err = nil // the next Read returns it again
		}
		return n, err
	}
	n := copy(p, b.rest)
	if b.rest = b.rest[n:]; len(b.rest) == 0 {
		b.rest = nil
	}
	return n, nil
}

// take moves the payload among p to its start. used is how many bytes of p belong to the body. At
// the end of the body, it sets b.err.
func (b *Body) take(p []byte) (payload, used int) {
	switch b.framing {
	case chunkwise:
		payload, used, b.err = b.chunks.take(p)
		b.Ahead = b.chunks.ahead
	case counted:
		payload = int(min(int64(len(p)), b.left))
		if b.left -= int64(payload); b.left == 0 {
			b.err = io.EOF
		}
		used = payload
	default:
		payload, used = len(p), len(p)
	}
	return payload, used
}

// cut is the error of a body whose connection ended with err.
func (b *Body) cut(err error) error {
	switch {
	case err != io.EOF:
		return err
	case b.framing == untilClose:
		return io.EOF
	}
	return io.ErrUnexpectedEOF
}

func (b *Body) finish(reusable bool) { b.conn.end(reusable && !b.last) }

// Close ends the request. If the body has not ended, the connection cannot be used again.
func (b *Body) Close() error {
	if b.err == nil {
		b.err = errBodyClosed
		b.finish(false)
	}
	return nil
}
