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
	conn    *stampedConn // beneath it, and beneath TLS
	used    bool         // it has carried a request, or was opened before there was one
	answers int          // that it has carried
	since   time.Time    // when it was last put away
}

// lacks names what a line that is being opened waits for.
func (l *line) lacks() string {
	switch {
	case l.conn == nil:
		return "connection"
	case l.proxied:
		return "connection through the proxy"
	}
	return "TLS handshake"
}

// An origin is where lines lead to: a scheme, a host and a port (RFC 6454).
type origin struct{ scheme, addr string }

// originOf is where requests to u go.
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

// ask sends r over l, which is closed where that fails.
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

// unanswered says whether a request that l was asked failed with the line, before a
// byte of its answer, and not because ctx ended. Under TLS bytes may be anything, so
// that it takes the word of net/http, which a caller's trace passes on.
func (l *line) unanswered(ctx context.Context) bool {
	trace := httptrace.ContextClientTrace(ctx)
	return ctx.Err() == nil && trace != nil && trace.GotFirstResponseByte != nil && l.conn.unanswered()
}

// bare is err without what a ClientConn, though not a Transport, says before it.
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
