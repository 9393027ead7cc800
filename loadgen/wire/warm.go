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

// warmRounds is how often Warm opens connections, again those that the server has closed meanwhile.
const warmRounds = 3

// Warm opens n connections to the host of target, TLS handshake and proxy included, and keeps them
// until requests use them. For HTTP/2 it sends a HEAD request, which leaves one connection. It
// returns how many are open, and the first error. A request over such a connection has no
// metrics.Conn. Some servers close connections that wait for their first request. Warm opens these
// again, and one that was closed later is dropped when its turn comes. Outside Linux it cannot see
// that a connection was closed.
func (t *Transport) Warm(ctx context.Context, target string, n int) (opened int, err error) {
	p, err := parseOrigin(target)
	if err != nil {
		return 0, err
	}
	if t.connections.HTTP2 {
		return t.openAll(p, min(n, 1), func() error { return t.head(ctx, target) })
	}
	t.pool.keepWarm()
	open := func() error {
		l, err := t.open(ctx, p)
		if err == nil {
			t.pool.put(l)
		}
		return err
	}
	for lacking, round := n, 0; lacking > 0 && err == nil && round < warmRounds; round++ {
		var more int
		more, err = t.openAll(p, lacking, open)
		lacking = t.pool.sweep(p)
		opened += more - lacking
	}
	return max(0, opened), err
}

// openAll opens n connections, many at once, and counts them.
func (t *Transport) openAll(p origin, n int, open func() error) (opened int, err error) {
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

// Ahead opens a connection to the host of target for a later request, unless n of them are ready or
// being opened, or requests and connections are as many as the Limit. If that fails it does
// nothing: a request without a connection opens one and has the error. On HTTP/2 it does nothing.
func (t *Transport) Ahead(ctx context.Context, target string, n int) {
	p, err := parseOrigin(target)
	if err != nil || t.connections.HTTP2 || !t.pool.reserve(p, n, len(t.slots), t.connections.Limit) {
		return
	}
	var l *link
	defer func() { t.pool.opened(l, p) }()
	select {
	case t.ahead <- struct{}{}:
		defer func() { <-t.ahead }()
	case <-ctx.Done():
		return
	}
	if l, err = t.open(ctx, p); err == nil {
		t.connections.Tally.warm()
	}
}

// parseOrigin is the origin of a URL.
func parseOrigin(target string) (origin, error) {
	u, err := url.Parse(target)
	if err != nil {
		return origin{}, err
	}
	return originOf(u)
}

// head sends a HEAD request. It ignores the answer.
func (t *Transport) head(ctx context.Context, target string) error {
	began := time.Now()
	limited, cancel := t.connections.limit(ctx)
	defer cancel()
	limited = context.WithValue(limited, dialled{}, new(link)) // so dial does not count it as opened
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
