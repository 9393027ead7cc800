package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/wire/http1"
)

// A client speaks HTTP/1.1 over one connection, as http.ClientConn and http1.Conn do.
type client interface {
	http.RoundTripper
	Available() int // requests that it can take now
	Err() error     // nil if it can be used
	Close() error
}

// A link is an HTTP/1.1 connection. It carries one request at a time.
type link struct {
	client
	to      origin
	proxied bool
	conn    *stampedConn // the connection below it, and below TLS
	secure  *tls.Conn    // the TLS that connect put on it; nil without TLS
	used    bool         // it has carried a request, or was opened before any request
	answers int          // answers it has carried
	since   time.Time    // when it was last put into the pool
}

// alive reports whether the server has not closed l, as far as that can be seen. Between requests,
// nobody reads from our own lines; net/http always does.
func (l *link) alive() bool {
	_, own := l.client.(*http1.Conn)
	if l.secure != nil && l.conn.kernel != nil {
		return l.quiet()
	}
	return l.conn.alive(own)
}

// quiet reports whether our own line under TLS has neither ended nor brought a byte that would pass
// for the next reply. It takes the tickets that servers send after the handshake.
func (l *link) quiet() (quiet bool) {
	l.conn.Await(func() (done bool) {
		_, err := l.secure.Read(make([]byte, 1))
		quiet = err == http1.ErrAgain
		return true
	})
	return quiet
}

// lacks names what a line still waits for while it opens.
func (l *link) lacks() string {
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
func (l *link) ask(r *http.Request) (*http.Response, error) {
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
func (l *link) unanswered(ctx context.Context) bool {
	trace := httptrace.ContextClientTrace(ctx)
	return ctx.Err() == nil && trace != nil && trace.GotFirstResponseByte != nil && l.conn.unanswered()
}

// before has what net/http puts in front of the errors of a connection.
var before = []string{
	"net/http: Transport failed to read from server: ", "net/http: HTTP/1.x transport connection broken: ",
}

// bare is err without what net/http puts in front of it.
func bare(err error) error {
	for _, words := range before {
		for strings.HasPrefix(err.Error(), words) {
			inner := errors.Unwrap(err)
			if inner == nil {
				break
			}
			err = inner
		}
	}
	if said, found := strings.CutPrefix(err.Error(), "net/http: "); found && errors.Unwrap(err) == nil {
		return errors.New(said)
	}
	return err
}
