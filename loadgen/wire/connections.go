package wire

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

// DefaultConnectTimeout is the default limit on opening a connection.
const DefaultConnectTimeout = time.Minute

// idleTimeout is how long a connection without a request is kept. uvicorn, which vLLM uses, and
// llama-server close theirs after 5 s. A request that meets the closing socket must be sent again,
// which its TTFT would include.
const idleTimeout = 4 * time.Second

// Connections says how to open and keep connections to a server. The zero value has no limits and
// verifies certificates.
type Connections struct {
	// Limit is how many requests may be in flight at once, each over a separate connection on
	// HTTP/1. vLLM's client sets it to its concurrency. Zero means no limit.
	Limit int

	// Timeout limits the time to open a connection, with proxy and TLS handshake. On HTTP/2 the
	// handshake has the same limit again. Zero means no limit.
	Timeout time.Duration

	Insecure bool // do not verify TLS certificates
	TLS      Credentials

	// HTTP2 speaks HTTP/2 only: by ALPN over TLS, else with prior knowledge. Streams then share few
	// connections.
	HTTP2 bool

	// NetHTTP leaves HTTP/1.1 to net/http, which costs more of this machine's time. HTTP/2 and
	// proxies are always left to it.
	NetHTTP bool

	// Socket is the path of a Unix socket. It replaces the URL's address and any proxy.
	Socket string

	// Names has the addresses of servers and proxies. Nil means its own, until CloseIdleConnections.
	// Transports that share one ask once for all of them. Dial and Socket need none.
	Names *Names

	Tally *Tally // counts the connections opened; nil counts nothing

	// Dial opens a connection. Nil means TCP, or Socket.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	// Proxy returns the proxy for a request, nil for no proxy. A nil Proxy follows the environment.
	Proxy func(r *http.Request) (*url.URL, error)

	turn *atomic.Int64 // of the transport's connections: see Names.dial
}

// open dials addr. The connection stamps what arrives.
func (c *Connections) open(ctx context.Context, addr string) (*stampedConn, error) {
	began := time.Now()
	limited, cancel := c.limit(ctx)
	defer cancel()
	var conn net.Conn
	var err error
	network := "tcp"
	if c.Socket != "" {
		network, addr = "unix", c.Socket
	}
	switch {
	case c.Dial != nil:
		conn, err = c.Dial(limited, network, addr)
	case c.Socket != "":
		conn, err = new(net.Dialer).DialContext(limited, network, addr)
	default:
		conn, err = c.Names.dial(limited, addr, int(c.turn.Add(1)-1))
	}
	if err != nil {
		c.Tally.refused(err)
		return nil, c.late(ctx, began, "connection", err)
	}
	stamped := stamp(conn, askForStamps)
	if stamped.kernel != nil {
		stamped.kernel.share(c.Tally)
	}
	return stamped, nil
}

// limit is ctx with the limit on opening a connection.
func (c *Connections) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.Timeout)
}

// late turns err into a *record.Failure if the limit on opening a connection caused it. The
// opening began at began and had not reached what.
func (c *Connections) late(ctx context.Context, began time.Time, what string, err error) error {
	if _, ok := errors.AsType[*record.Failure](err); ok || c.Timeout <= 0 || time.Since(began) < c.Timeout ||
		ctx.Err() != nil {
		return err
	}
	return record.Failf(record.ConnectTimeout, "no %s within %v: %w", what, c.Timeout, err)
}

// CheckSockets reports why this machine cannot hold n connections to one address at once: too few
// file descriptors, or too few local ports. It raises the limit on descriptors as far as this
// process may, hard limit included. What it cannot read, it assumes to be enough.
func CheckSockets(n int) error {
	if err := checkFiles(n); err != nil {
		return err
	}
	return checkPorts(n)
}

// CheckSockets reports why this machine cannot hold the connections of n requests at once. On
// HTTP/2, requests share few connections; a Unix socket needs no port.
func (t *Transport) CheckSockets(n int) error {
	switch {
	case t.connections.HTTP2:
		return nil
	case t.connections.Socket != "":
		return checkFiles(n)
	}
	return CheckSockets(n)
}
