package wire

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// warmTogether is how many connections are opened in parallel. More would overflow the server's
// accept queue, and would be retried a second later.
const warmTogether = 256

// Warm opens n connections to the host of target, TLS handshake and proxy included, and keeps them
// for later requests. For HTTP/2 it sends a HEAD request, which leaves one connection. It returns
// how many it opened, and the first error. A request over such a connection has no metrics.Conn. A
// connection that was idle for more than 4 s, or that the server has closed, is dropped when its
// turn comes. Outside Linux it cannot see that a connection was closed.
func (t *Transport) Warm(ctx context.Context, target string, n int) (opened int, err error) {
	u, err := url.Parse(target)
	if err != nil {
		return 0, err
	}
	p, err := originOf(u)
	if err != nil {
		return 0, err
	}
	open := func() error {
		l, err := t.open(ctx, p)
		if err == nil {
			t.pool.put(l)
		}
		return err
	}
	if t.connections.HTTP2 {
		n = min(n, 1)
		open = func() error { return t.head(ctx, target) }
	}
	var count atomic.Int64
	var group errgroup.Group
	group.SetLimit(warmTogether)
	for range n {
		group.Go(func() error {
			err := open()
			if err == nil {
				count.Add(1)
				t.connections.Tally.warm()
			}
			return err
		})
	}
	if err = group.Wait(); err != nil {
		err = fmt.Errorf("opening connections to %s: %w", p.addr, err)
	}
	return int(count.Load()), err
}

// head sends a HEAD request. It ignores the answer.
func (t *Transport) head(ctx context.Context, target string) error {
	began := time.Now()
	limited, cancel := t.connections.limit(ctx)
	defer cancel()
	limited = context.WithValue(limited, dialled{}, new(line)) // so dial does not count it as opened
	r, err := http.NewRequestWithContext(limited, http.MethodHead, target, nil)
	if err != nil {
		return err
	}
	reply, err := t.http.RoundTrip(r)
	if err != nil {
		return t.connections.late(ctx, began, "answer over a new connection", err)
	}
	return reply.Body.Close()
}
