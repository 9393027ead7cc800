package loadgen

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
)

// A Transport sends requests over connections that stamp what arrives. It is
// safe for concurrent use. Make one with Connections.Transport.
type Transport struct {
	connections Connections
	http        *http.Transport
	stock       stock
}

// Transport makes an HTTP/1.1 transport: a connection carries one stream at a
// time and is kept for the next, however many there are. It asks for no
// compression. As vLLM's client it honours HTTP_PROXY, HTTPS_PROXY and NO_PROXY,
// though never for localhost. Warm-up and probes that use the same transport
// share its connections, and its limit.
func (c Connections) Transport() *Transport {
	t := &Transport{connections: c}
	var protocols http.Protocols
	protocols.SetHTTP1(!c.HTTP2)
	protocols.SetHTTP2(c.HTTP2)
	protocols.SetUnencryptedHTTP2(c.HTTP2)
	t.http = &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         t.dial,
		DialTLSContext:      t.dialTLS,
		TLSClientConfig:     c.tls(),
		TLSHandshakeTimeout: c.Timeout,
		MaxConnsPerHost:     c.Limit,
		MaxIdleConnsPerHost: 1 << 20,
		IdleConnTimeout:     idleTimeout,
		DisableCompression:  true,
		Protocols:           &protocols,
	}
	if c.Socket != "" {
		t.http.Proxy = nil
	}
	return t
}

// tls is the configuration for any server. One that offers no HTTP/2 is spoken
// to in HTTP/1.1.
func (c *Connections) tls() *tls.Config {
	config := &tls.Config{InsecureSkipVerify: c.Insecure}
	if c.HTTP2 {
		config.NextProtos = []string{"h2", "http/1.1"}
	}
	return config
}

// RoundTrip sends one request, as an http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) { return t.http.RoundTrip(r) }

// CloseIdleConnections closes the connections that carry no request, those
// opened beforehand included.
func (t *Transport) CloseIdleConnections() {
	t.stock.close()
	t.http.CloseIdleConnections()
}

// Proxy is the host of the proxy that requests to url go through, with its port
// if that was given; "" when there is none.
func (t *Transport) Proxy(url string) string {
	r, err := http.NewRequest(http.MethodPost, url, nil)
	if err != nil || t.http.Proxy == nil {
		return ""
	}
	proxy, err := t.http.Proxy(r)
	if err != nil || proxy == nil {
		return ""
	}
	return proxy.Host
}

// dial gives net/http a connection: one from the stock, or else a new one.
func (t *Transport) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	return t.from(place{addr: addr}, func() (net.Conn, error) {
		conn, err := t.connections.open(ctx, addr)
		if err != nil {
			return nil, err
		}
		return conn, nil
	})
}

// dialTLS is dial for a server, or a proxy, that speaks TLS. Its handshake is
// done: net/http, which gives it no time limit, finds nothing left to do.
func (t *Transport) dialTLS(ctx context.Context, _, addr string) (net.Conn, error) {
	return t.from(place{addr: addr, tls: true}, func() (net.Conn, error) { return t.openTLS(ctx, addr) })
}

func (t *Transport) from(p place, open func() (net.Conn, error)) (net.Conn, error) {
	if conn := t.stock.take(p); conn != nil {
		return conn, nil
	}
	conn, err := open()
	if err == nil {
		t.connections.Tally.open()
	}
	return conn, err
}

// openTLS opens a connection and shakes hands on it.
func (t *Transport) openTLS(ctx context.Context, addr string) (net.Conn, error) {
	plain, err := t.connections.open(ctx, addr)
	if err != nil {
		return nil, err
	}
	if t.connections.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.connections.Timeout)
		defer cancel()
	}
	config := t.connections.tls()
	if config.ServerName, _, err = net.SplitHostPort(addr); err != nil {
		plain.Close()
		return nil, err
	}
	conn := tls.Client(plain, config)
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.TLSHandshakeStart != nil {
		trace.TLSHandshakeStart()
	}
	if err := conn.HandshakeContext(ctx); err != nil {
		plain.Close()
		return nil, fmt.Errorf("TLS handshake: %w", err)
	}
	return conn, nil
}
