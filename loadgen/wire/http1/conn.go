package http1

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// ErrAgain is the error of a Read on a connection that has no bytes yet and does not wait. A reader
// above it may try again later.
var ErrAgain net.Error = again{}

type again struct{}

func (again) Error() string { return "no bytes yet" }
func (again) Timeout() bool { return false }

// Temporary makes crypto/tls try again later.
func (again) Temporary() bool { return true }

var (
	errBusy   = errors.New("the connection carries another request")
	errClosed = fmt.Errorf("the connection cannot carry another request: %w", net.ErrClosed)
)

// A waiter is a connection that can wait without a Read. Await calls step until it returns true: at
// once, and again whenever bytes may have arrived. While step runs, Read returns ErrAgain instead
// of waiting.
type waiter interface {
	Await(step func() (done bool))
}

// A Conn is the client's side of an HTTP/1.1 connection. It carries one request at a time. Only
// Close may be called at any time; the other methods and the body of the reply belong to one
// goroutine at a time. If a request leaves it unusable, Available says so, and its owner must close
// it.
type Conn struct {
	// MaxHeader bounds the header of a reply, in bytes, including interim replies.
	MaxHeader int

	conn    net.Conn
	closed  atomic.Bool
	spent   bool        // it cannot carry another request
	busy    bool        // a request is in flight
	stop    func() bool // stops waiting for the end of the request's context
	writing chan error  // the result of writing a long request; nil once it is known
}

// New returns a Conn over conn, which it owns. TLS must be below it.
func New(conn net.Conn) *Conn { return &Conn{conn: conn, MaxHeader: 256 << 10} }

// Available is 1 if the connection can carry a request, else 0.
func (c *Conn) Available() int {
	if c.busy || c.Err() != nil {
		return 0
	}
	return 1
}

// Err is nil unless the connection cannot carry another request. That the other side has closed it
// shows only when it is used.
func (c *Conn) Err() error {
	if c.spent || c.closed.Load() {
		return errClosed
	}
	return nil
}

// Close closes the connection. A request in flight ends with an error.
func (c *Conn) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	return c.conn.Close()
}

// RoundTrip sends r and returns the reply to it, as an http.RoundTripper, with the connection's
// errors as they are. The caller must read the body, a *Body, to its end before the next request; a
// body that is closed earlier leaves the connection unusable. RoundTrip tells the
// httptrace.ClientTrace of r's context when the request was written and when the reply began. The
// end of the context closes the connection. RoundTrip sends no trailers and drops the
// reply's. After an error, or a reply that came early, it may read the bytes of r's body until the
// connection is closed.
func (c *Conn) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	switch {
	case c.busy:
		return nil, errBusy
	case c.Err() != nil:
		return nil, c.Err()
	}
	ctx := r.Context()
	c.busy, c.stop = true, context.AfterFunc(ctx, func() { c.Close() })
	reply, err := c.exchange(r, httptrace.ContextClientTrace(ctx))
	if err == nil {
		return reply, nil
	}
	c.end(false)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return nil, err
}

// exchange writes r and reads the header of the reply.
func (c *Conn) exchange(r *http.Request, trace *httptrace.ClientTrace) (*http.Response, error) {
	unwritten := c.write(r, trace)
	if unwritten != nil && !isNetwork(unwritten) {
		return nil, unwritten
	}
	reply, rest, err := c.header(r, trace) // a server may refuse a request without reading all of it
	if err != nil {
		if unwritten != nil {
			err = unwritten
		}
		return nil, err
	}
	b := newBody(c, reply, rest)
	b.last = reply.Close || r.Close || reply.StatusCode < 200 || unwritten != nil || b.framing == untilClose
	if reply.Body = b; b.framing == empty {
		b.err = io.EOF
		b.finish(rest == nil)
	}
	return reply, nil
}

func isNetwork(err error) bool {
	_, ok := errors.AsType[*net.OpError](err)
	return ok || errors.Is(err, io.ErrClosedPipe)
}

// writtenWithin is how long the rest of a request may take after the end of its reply.
const writtenWithin = 50 * time.Millisecond

// end ends the request. reusable says whether its reply lets the connection carry another one.
func (c *Conn) end(reusable bool) {
	c.busy = false
	c.spent = !c.stop() || !reusable || !c.wrote()
}

// wrote reports whether the whole request was written. It waits a moment for a long one.
func (c *Conn) wrote() bool {
	if c.writing == nil {
		return true
	}
	defer func() { c.writing = nil }()
	select {
	case err := <-c.writing:
		return err == nil
	case <-time.After(writtenWithin):
		return false
	}
}
