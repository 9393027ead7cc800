package wire

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/servebench/servebench/metrics"
)

// DefaultConnectTimeout is the limit on opening a connection that a run has unless
// it is told otherwise.
const DefaultConnectTimeout = time.Minute

// IdleTimeout is how long a connection without a request is kept. uvicorn, which
// vLLM runs on, and llama-server close theirs after 5 s; a request that meets
// the closing socket has to be sent anew, which its TTFT would have inside.
const IdleTimeout = 4 * time.Second

// Connections says how connections to a server are made and kept. The zero value
// has no limits and verifies certificates.
type Connections struct {
	// Limit is how many requests may be in flight at once, each over a connection of
	// its own on HTTP/1. vLLM's client limits them to its concurrency. Zero means no
	// limit.
	Limit int

	// Timeout limits the time that opening a connection takes, with a proxy and the
	// TLS handshake. On HTTP/2 the handshake has the same limit for itself. Zero means
	// no limit.
	Timeout time.Duration

	Insecure bool // do not verify TLS certificates
	TLS      Credentials

	// HTTP2 speaks HTTP/2 and nothing else: by ALPN over TLS, else with prior
	// knowledge. Streams then share few connections.
	HTTP2 bool

	// Socket is the path of a Unix socket. It is dialled instead of the URL's address
	// and of any proxy.
	Socket string

	Tally *Tally // counts the connections opened; nil counts nothing

	// Dial opens a connection. Nil means TCP, or Socket.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	// Proxy gives the proxy for a request, nil for none. A nil Proxy means what the
	// environment says.
	Proxy func(r *http.Request) (*url.URL, error)
}

// open dials addr. The connection stamps what arrives.
func (c *Connections) open(ctx context.Context, addr string) (*stampedConn, error) {
	began := time.Now()
	limited, cancel := c.limit(ctx)
	defer cancel()
	network, dial := "tcp", c.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	if c.Socket != "" {
		network, addr = "unix", c.Socket
	}
	conn, err := dial(limited, network, addr)
	if err != nil {
		c.Tally.refused(err)
		return nil, c.late(ctx, began, "connection", err)
	}
	return stamp(conn, askForStamps), nil
}

// limit is ctx for as long as opening a connection may take.
func (c *Connections) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.Timeout)
}

// late is err, which opening a connection since began gave before there was what,
// as a *metrics.Failure if it was the limit that struck.
func (c *Connections) late(ctx context.Context, began time.Time, what string, err error) error {
	if _, ok := errors.AsType[*metrics.Failure](err); ok || c.Timeout <= 0 || time.Since(began) < c.Timeout || ctx.Err() != nil {
		return err
	}
	return metrics.Failf(metrics.ConnectTimeout, "no %s within %v: %w", what, c.Timeout, err)
}

// CheckSockets reports why this machine cannot hold n connections to one
// address at once: too few file descriptors, or local ports. It raises the limit
// on descriptors as far as this process may, hard limit included. What cannot be
// read is taken to be enough.
func CheckSockets(n int) error {
	if err := checkFiles(n); err != nil {
		return err
	}
	return checkPorts(n)
}

// CheckSockets reports why this machine cannot hold the connections of n
// requests at once. Those of HTTP/2 share a few, and a Unix socket takes no port.
func (t *Transport) CheckSockets(n int) error {
	switch {
	case t.connections.HTTP2:
		return nil
	case t.connections.Socket != "":
		return checkFiles(n)
	}
	return CheckSockets(n)
}
