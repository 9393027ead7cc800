package loadgen

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// warmTogether is how many connections are opened side by side. More would only
// overflow the server's queue of connections that wait to be accepted, and be
// tried again a second later.
const warmTogether = 256

// Warm opens n connections to url's host, or to the proxy on the way to it, TLS
// handshake included unless it is behind that, and keeps them for the requests
// to come. For HTTP/2 it opens one. It gives how many were opened; the error is
// that of the first which could not be. A request that gets one has no
// metrics.Conn. One that lies idle for longer than 4 s, or that the server has
// closed, is dropped when its turn comes.
func (t *Transport) Warm(ctx context.Context, url string, n int) (opened int, err error) {
	p, err := t.first(url)
	if err != nil {
		return 0, err
	}
	if t.connections.HTTP2 {
		n = min(n, 1)
	}
	var count atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(warmTogether)
	for range n {
		group.Go(func() error {
			conn, err := t.warm(ctx, p)
			if err == nil {
				count.Add(1)
				t.connections.Tally.warm()
				t.stock.put(p, conn)
			}
			return err
		})
	}
	err = group.Wait()
	if err != nil {
		err = fmt.Errorf("opening connections to %s: %w", p.addr, err)
	}
	return int(count.Load()), err
}

// warm opens one connection.
func (t *Transport) warm(ctx context.Context, p place) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if p.tls {
		return t.openTLS(ctx, p.addr)
	}
	conn, err := t.connections.open(ctx, p.addr)
	if err != nil {
		return nil, err
	}
	return conn, nil
}

// ports are what net/http dials where a URL has none.
var ports = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}

// first is where net/http connects to for requests to target: its host, or the
// proxy.
func (t *Transport) first(target string) (place, error) {
	r, err := http.NewRequest(http.MethodPost, target, nil)
	if err != nil {
		return place{}, err
	}
	u := r.URL
	if t.http.Proxy != nil {
		proxy, err := t.http.Proxy(r)
		if err != nil {
			return place{}, err
		}
		if proxy != nil {
			u = proxy
		}
	}
	return placeOf(u)
}

func placeOf(u *url.URL) (place, error) {
	port := u.Port()
	if port == "" {
		port = ports[u.Scheme]
	}
	if u.Hostname() == "" || port == "" {
		return place{}, errors.New("no address in " + u.Redacted())
	}
	return place{addr: net.JoinHostPort(u.Hostname(), port), tls: u.Scheme == "https"}, nil
}
