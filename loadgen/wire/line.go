package wire

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"time"
)

// A line is an HTTP/1.1 connection. It carries one request at a time.
type line struct {
	*http.ClientConn
	to      origin
	proxied bool
	conn    *stampedConn // the connection below it, and below TLS
	used    bool         // it has carried a request, or was opened before any request
	answers int          // answers it has carried
	since   time.Time    // when it was last put into the pool
}

// lacks names what a line still waits for while it opens.
func (l *line) lacks() string {
	switch {
	case l.conn == nil:
		return "connection"
	case l.proxied:
		return "connection through the proxy"
	}
	return "TLS handshake"
}

// An origin is what lines connect to: a scheme, a host and a port (RFC 6454).
type origin struct{ scheme, addr string }

// originOf is the origin that requests to u go to.
func originOf(u *url.URL) (origin, error) {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if u.Hostname() == "" || port == "" {
		return origin{}, errors.New("no address in " + u.Redacted())
	}
	return origin{u.Scheme, net.JoinHostPort(u.Hostname(), port)}, nil
}

// ask sends r over l. If that fails, it closes l.
func (l *line) ask(r *http.Request) (*http.Response, error) {
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: l.conn, Reused: l.used})
	}
	l.conn.ask()
	reply, err := l.RoundTrip(r)
	if err != nil {
		l.Close()
	}
	return reply, err
}

// unanswered reports whether a request on l failed because l died before the first byte of an
// answer, and not because ctx ended. Under TLS, bytes may be anything, so it relies on net/http, by
// a caller's trace.
func (l *line) unanswered(ctx context.Context) bool {
	trace := httptrace.ContextClientTrace(ctx)
	return ctx.Err() == nil && trace != nil && trace.GotFirstResponseByte != nil && l.conn.unanswered()
}

// bare is err without the prefix that a ClientConn adds and a Transport does not.
func bare(err error) error {
	for strings.HasPrefix(err.Error(), "net/http: Transport failed to read from server: ") {
		inner := errors.Unwrap(err)
		if inner == nil {
			break
		}
		err = inner
	}
	return err
}
