package loadgen

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// DefaultConnectTimeout is the limit on dialling, and on the TLS handshake after
// it, that a run has unless it is told otherwise.
const DefaultConnectTimeout = time.Minute

// idleTimeout is how long a connection without a request is kept. uvicorn, which
// vLLM runs on, and llama-server close theirs after 5 s; a request that meets
// the closing socket would fail for no fault of the server's, because it is not
// sent again.
const idleTimeout = 4 * time.Second

// Connections says how connections to a server are made and kept. The zero value
// has no limits and verifies certificates.
type Connections struct {
	Limit    int           // open at once to one host, as vLLM's client limits them to its concurrency; 0 means no limit
	Timeout  time.Duration // for dialling, and for the TLS handshake after it; 0 means none
	Insecure bool          // do not verify TLS certificates

	// Dial opens a connection. Nil means TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Transport makes an HTTP/1.1 transport: a connection carries one stream at a
// time and is kept for the next, however many there are. It asks for no
// compression. As vLLM's client it honours HTTP_PROXY, HTTPS_PROXY and NO_PROXY,
// though never for localhost. Warm-up and probes that use the same transport
// share its connections, and its limit.
func (c Connections) Transport() *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         c.dial,
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: c.Insecure},
		TLSHandshakeTimeout: c.Timeout,
		MaxConnsPerHost:     c.Limit,
		MaxIdleConnsPerHost: 1 << 20,
		IdleConnTimeout:     idleTimeout,
		DisableCompression:  true,
		Protocols:           &protocols,
	}
}

func (c Connections) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	if c.Dial != nil {
		return c.Dial(ctx, network, addr)
	}
	var dialer net.Dialer
	return dialer.DialContext(ctx, network, addr)
}
