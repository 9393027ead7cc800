package http1

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
)

// A headerReader reads headers of replies from a connection.
type headerReader struct {
	conn *Conn
	left int // bytes that it may still read
	buf  *bufio.Reader
}

var headerReaders = sync.Pool{New: func() any { return &headerReader{buf: bufio.NewReaderSize(nil, 4<<10)} }}

// Read reads from the connection.
func (h *headerReader) Read(p []byte) (int, error) {
	if h.left == 0 {
		return 0, io.EOF
	}
	n, err := h.conn.conn.Read(p[:min(len(p), h.left)])
	h.left -= n
	return n, err
}

func (h *headerReader) release() {
	h.conn = nil
	headerReaders.Put(h)
}

// firstByte waits for a reply, without a buffer if the connection can do so.
func (c *Conn) firstByte() (h *headerReader, err error) {
	step := func() (done bool) {
		h = headerReaders.Get().(*headerReader)
		h.conn, h.left = c, c.MaxHeader
		h.buf.Reset(h)
		if _, err = h.buf.Peek(1); err != nil {
			h.release()
		}
		return err != ErrAgain
	}
	if w, ok := c.conn.(waiter); ok {
		w.Await(step)
	} else {
		step()
	}
	return h, err
}

// header reads the header of the reply to r, and skips interim replies. rest has what came after
// it, nil if nothing came.
func (c *Conn) header(r *http.Request, trace *httptrace.ClientTrace) (reply *http.Response, rest []byte, err error) {
	h, err := c.firstByte()
	if err != nil {
		return nil, nil, err
	}
	defer h.release()
	if trace != nil && trace.GotFirstResponseByte != nil {
		trace.GotFirstResponseByte()
	}
	for reply == nil || interim(reply.StatusCode) {
		reply, err = http.ReadResponse(h.buf, r)
		switch {
		case err != nil && h.left == 0:
			return nil, nil, fmt.Errorf("server response headers exceeded %d bytes; aborted", c.MaxHeader)
		case err != nil:
			return nil, nil, err
		}
	}
	if n := h.buf.Buffered(); n > 0 {
		rest, _ = h.buf.Peek(n)
		rest = bytes.Clone(rest)
	}
	return reply, rest, nil
}

// interim reports whether another reply follows a reply with this status.
func interim(status int) bool {
	return 100 <= status && status <= 199 && status != http.StatusSwitchingProtocols
}
