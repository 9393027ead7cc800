package wire

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/servebench/servebench/loadgen/wire/http1"
)

// maxHeader bounds the header of a reply, in bytes. Real headers have some kilobytes.
const maxHeader = 256 << 10

// A Transport sends requests over connections that stamp what arrives. It is
// safe for concurrent use. Make one with Connections.Transport.
type Transport struct {
	connections Connections
	http        *http.Transport // opens connections; speaks HTTP/2 itself
	pool        pool            // HTTP/1.1 connections without a request
	names       bool            // its Names are its own
	replies     atomic.Int64    // over HTTP/2
	slots       slots           // of requests in flight
	ahead       chan struct{}   // one for each connection that Ahead opens now
}

// Transport makes an HTTP/1.1 transport. A connection carries one stream at a time and is kept for
// the next, without a limit on their number. It asks for no compression. Like vLLM's client it
// honours HTTP_PROXY, HTTPS_PROXY and NO_PROXY, though never for localhost; also ALL_PROXY, and
// proxies that speak SOCKS5. Warm-up and probes that use the same transport share its connections,
// and its limit.
//
// The pool is our own. net/http's pool passes a request through several goroutines to its
// connection. If a thousand requests start at once, each waits for all the others at each
// goroutine, and this wait would count as TTFT.
func (c Connections) Transport() *Transport {
	if c.Proxy == nil {
		c.Proxy = environmentsProxy()
	}
	owned := c.Names == nil
	if owned {
		c.Names = new(Names)
	}
	c.turn = new(atomic.Int64)
	c.turn.Store(int64(c.Names.view()))
	t := &Transport{connections: c, names: owned, ahead: make(chan struct{}, warmTogether)}
	if c.Limit > 0 {
		t.slots = make(slots, c.Limit)
	}
	var protocols http.Protocols
	protocols.SetHTTP1(!c.HTTP2)
	protocols.SetHTTP2(c.HTTP2)
	protocols.SetUnencryptedHTTP2(c.HTTP2)
	t.http = &http.Transport{
		Proxy:       t.proxyFor,
		DialContext: t.dial,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: c.Insecure, Certificates: c.TLS.Certificates,
			RootCAs: c.TLS.Authorities},
		IdleConnTimeout:    idleTimeout,
		DisableCompression: true,
		Protocols:          &protocols,

		MaxResponseHeaderBytes: maxHeader,
	}
	if c.HTTP2 {
		t.http.TLSHandshakeTimeout = c.Timeout
	}
	if c.Socket != "" {
		t.http.Proxy = nil
	}
	return t
}

// Apart is another Transport to the same servers. It has no limit, and no Tally counts its
// connections.
func (t *Transport) Apart() *Transport {
	c := t.connections
	c.Limit, c.Tally = 0, nil
	return c.Transport()
}

// RoundTrip sends one request, as an http.RoundTripper. Closing the reply's body releases the slot.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := checkHeader(r.Header); err != nil {
		closeBody(r)
		return nil, err
	}
	leave, err := t.slots.enter(r.Context())
	if err != nil {
		closeBody(r)
		return nil, err
	}
	var reply *http.Response
	if t.connections.HTTP2 {
		reply, err = t.multiplex(r)
	} else {
		reply, leave, err = t.send(r, leave)
	}
	if err != nil {
		leave()
		return nil, err
	}
	reply.Body = &pooledBody{reply.Body, sync.OnceFunc(leave)}
	return reply, nil
}

// slots hold one token for each request in flight, as many as the limit; nil without a limit.
type slots chan struct{}

// enter waits for a slot.
func (s slots) enter(ctx context.Context) (leave func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	select {
	case s <- struct{}{}:
		return func() { <-s }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// A dialled is the context key of the line for which a connection is opened.
type dialled struct{}

// open opens a line to p.
func (t *Transport) open(ctx context.Context, p origin) (*link, error) {
	l := &link{to: p}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{TLSHandshakeStart: func() { l.conn.secured++ }})
	began := time.Now()
	limited, cancel := t.connections.limit(ctx)
	defer cancel()
	var err error
	direct := t.direct(p)
	t.connections.Tally.speaks(direct)
	if direct {
		err = t.connect(limited, l)
	} else {
		l.client, err = t.http.NewClientConn(context.WithValue(limited, dialled{}, l), p.scheme, p.addr)
	}
	if err != nil {
		return nil, t.connections.late(ctx, began, l.lacks(), err)
	}
	if l.proxied {
		l.conn.took = time.Since(began)
	}
	return l, nil
}

// direct reports whether lines to p are our own: not if they lead through a proxy.
func (t *Transport) direct(p origin) bool {
	if t.connections.NetHTTP {
		return false
	}
	if t.connections.Socket != "" {
		return true
	}
	proxy, err := t.connections.Proxy(&http.Request{URL: &url.URL{Scheme: p.scheme, Host: p.addr}})
	return proxy == nil && err == nil
}

// connect opens our own line.
func (t *Transport) connect(ctx context.Context, l *link) (err error) {
	if l.conn, err = t.connections.open(ctx, l.to.addr); err != nil {
		return err
	}
	var conn net.Conn = l.conn
	if l.to.scheme == "https" {
		if l.secure, err = t.secure(ctx, l); err != nil {
			l.conn.Close()
			return err
		}
		conn = l.secure
	}
	own := http1.New(conn)
	own.MaxHeader = maxHeader
	l.client = own
	return nil
}

// secure puts TLS on l.
func (t *Transport) secure(ctx context.Context, l *link) (*tls.Conn, error) {
	config := t.http.TLSClientConfig.Clone()
	config.ServerName, _, _ = net.SplitHostPort(l.to.addr)
	conn := tls.Client(l.conn, config)
	trace := httptrace.ContextClientTrace(ctx)
	if trace != nil && trace.TLSHandshakeStart != nil {
		trace.TLSHandshakeStart()
	}
	err := conn.HandshakeContext(ctx)
	if trace != nil && trace.TLSHandshakeDone != nil {
		trace.TLSHandshakeDone(conn.ConnectionState(), err)
	}
	return conn, err
}

// proxyFor is the proxy for r, nil for no proxy. When net/http opens a line, it asks with a request
// whose URL lacks the port and the brackets of an address.
func (t *Transport) proxyFor(r *http.Request) (*url.URL, error) {
	ask := t.connections.Proxy
	l, ok := r.Context().Value(dialled{}).(*link)
	if !ok || l.to == (origin{}) {
		return ask(r)
	}
	proxy, err := ask(&http.Request{URL: &url.URL{Scheme: l.to.scheme, Host: l.to.addr}})
	l.proxied = proxy != nil
	return proxy, err
}

// dial opens a connection for net/http: to a server, or to its proxy.
func (t *Transport) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	conn, err := t.connections.open(ctx, addr)
	if err != nil {
		return nil, err
	}
	conn.streams = t.connections.HTTP2
	if l, ok := ctx.Value(dialled{}).(*link); ok {
		l.conn = conn
	} else {
		t.connections.Tally.open()
	}
	if conn.streams {
		return &settledConn{Conn: conn}, nil
	}
	return conn, nil
}

// CloseIdleConnections closes the connections that carry no request, also those opened beforehand.
func (t *Transport) CloseIdleConnections() {
	t.pool.close()
	t.http.CloseIdleConnections()
	if t.names {
		t.connections.Names.Close()
	}
}

// Proxy is the host of the proxy for requests to url, with its port if one was given; "" without a
// proxy.
func (t *Transport) Proxy(url string) string {
	r, err := http.NewRequest(http.MethodPost, url, nil)
	if err != nil || t.connections.Socket != "" {
		return ""
	}
	proxy, err := t.proxyFor(r)
	if err != nil || proxy == nil {
		return ""
	}
	return proxy.Host
}
