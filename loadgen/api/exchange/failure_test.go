package exchange_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
	"github.com/servebench/servebench/metrics/record"
)

// dialling is a Dial that gives err.
func dialling(err error) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) { return nil, err }
}

func TestAFailureToConnectIsClassed(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	proxy := http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy.test"})
	for _, test := range []struct {
		name    string
		err     error
		proxy   func(*http.Request) (*url.URL, error)
		class   record.Class
		message string
	}{
		{"no such name", dial(&net.DNSError{Err: "no such host", Name: "server.test", IsNotFound: true}), nil,
			record.DNS, "dial tcp: lookup server.test: no such host"},
		{"no answer from DNS", dial(&net.DNSError{Err: "i/o timeout", Name: "server.test", IsTimeout: true}), nil,
			record.DNS, "dial tcp: lookup server.test: i/o timeout"},
		{"refused", dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), nil,
			record.Refused, "dial tcp: connect: connection refused"},
		{"refused on Windows", dial(syscall.Errno(10061)), nil, record.Refused, "dial tcp: " + syscall.Errno(10061).Error()},
		{"the kernel's own limit", dial(os.NewSyscallError("connect", syscall.ETIMEDOUT)), nil,
			record.ConnectTimeout, "timed out: dial tcp: connect: connection timed out"},
		{"unreachable", dial(os.NewSyscallError("connect", syscall.EHOSTUNREACH)), nil,
			record.Connect, "dial tcp: connect: no route to host"},
		{"no descriptors", dial(os.NewSyscallError("socket", syscall.EMFILE)), nil,
			record.Connect, "dial tcp: socket: too many open files"},
		{"the proxy refused", dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), proxy,
			record.Connect, "proxyconnect tcp: dial tcp: connect: connection refused"},
	} {
		transport := wire.Connections{NetHTTP: netHTTP, Dial: dialling(test.err), Proxy: test.proxy}.Transport()
		got, rec := ask(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test", Transport: transport})
		if got.Class != test.class || got.Error != test.message || rec.Attempts != 0 {
			t.Errorf("%s: %s, %q in %d attempts; want %s, %q", test.name, got.Class, got.Error, rec.Attempts, test.class, test.message)
		}
	}
}

// serving accepts connections and does with each what serve does. It gives its
// address.
func serving(t *testing.T, serve func(conn *net.TCPConn)) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serve(conn.(*net.TCPConn))
			conn.Close()
		}
	}()
	return listener.Addr().String()
}

// hello reads what a client says first.
func hello(conn net.Conn) { _, _ = conn.Read(make([]byte, 4096)) }

// reset has the kernel reset conn when it is closed.
func reset(conn *net.TCPConn) { _ = conn.SetLinger(0) }

func TestWhyThereIsNoTLSIsSaid(t *testing.T) {
	quiet := func(server *httptest.Server) string {
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		t.Cleanup(server.Close)
		return server.Listener.Addr().String()
	}
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.StartTLS()
	picky := httptest.NewUnstartedServer(http.NotFoundHandler())
	picky.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	picky.StartTLS()
	for _, test := range []struct {
		name, url, server string
		class             record.Class
		message           string // its beginning
	}{
		{"unknown authority", "https://example.com", quiet(secure), record.TLS,
			"the TLS handshake failed: tls: failed to verify certificate: x509: certificate signed by unknown authority"},
		{"wrong name", "https://server.test", quiet(secure), record.TLS,
			"the TLS handshake failed: tls: failed to verify certificate: x509: certificate is valid for example.com, "},
		{"plain HTTP", "https://server.test", quiet(httptest.NewServer(http.NotFoundHandler())), record.TLS,
			"the server speaks no TLS, but plain HTTP: is its URL http:// instead of https://?"},
		{"something else", "https://server.test", serving(t, func(conn *net.TCPConn) {
			hello(conn)
			_, _ = io.WriteString(conn, "220 mail.test at your service\r\n")
		}), record.TLS, "the server speaks no TLS: tls: first record does not look like a TLS handshake"},
		{"hung up", "https://server.test", serving(t, func(conn *net.TCPConn) { hello(conn) }), record.TLS,
			"the server closed the connection in the TLS handshake: EOF"},
		{"reset", "https://server.test", serving(t, func(conn *net.TCPConn) { hello(conn); reset(conn) }), record.Reset,
			"the connection was reset in the TLS handshake: "},
	} {
		transport := wire.Connections{NetHTTP: netHTTP, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, test.server)
		}}.Transport()
		got, _ := ask(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: test.url, Transport: transport})
		if got.Class != test.class || !strings.HasPrefix(got.Error, test.message) {
			t.Errorf("%s: %s, %q; want %s, %q", test.name, got.Class, got.Error, test.class, test.message)
		}
	}
	// With TLS 1.3 the server refuses the client once that is done.
	transport := wire.Connections{NetHTTP: netHTTP, Insecure: true}.Transport()
	defer transport.CloseIdleConnections()
	got, _ := ask(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: "https://" + quiet(picky), Transport: transport})
	if got.Class != record.TLS || !strings.HasSuffix(got.Error, "remote error: tls: certificate required") {
		t.Errorf("without a certificate of its own: %s, %q", got.Class, got.Error)
	}
}

// The message has no port of ours, or each failure would be one of its own kind.
func TestAResetIsNoCleanEnd(t *testing.T) {
	for _, test := range []struct {
		reply        string
		reset        bool
		class        record.Class
		chunks       int
		where, cause string
	}{
		{"", true, record.Reset, 0, "the connection was reset before the reply: ", "read: connection reset by peer"},
		{"", false, record.Truncated, 0, "the connection was cut before the reply: ", "EOF"},
		{streamHead + wiretest.Framed(aChunk), true, record.Reset, 1, "the connection was reset in the middle of the answer: ", "read: connection reset by peer"},
		{streamHead + wiretest.Framed(aChunk), false, record.Truncated, 1, "the connection was cut in the middle of the answer: ", "unexpected EOF"},
	} {
		read := make(chan struct{})
		url := "http://" + serving(t, func(conn *net.TCPConn) {
			if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
				return
			}
			_, _ = io.WriteString(conn, test.reply)
			if test.chunks > 0 {
				<-read // a reset drops what the client's kernel has not handed on
			}
			if test.reset {
				reset(conn)
			}
		})
		o := &exchange.Endpoint{Protocol: completions.Protocol, URL: url, Transport: wire.Connections{NetHTTP: netHTTP}.Transport()}
		rec, chunks := &record.Record{}, 0
		var class record.Class
		var message string
		for _, err := range o.Send(t.Context(), time.Now(), &engine.Request{Body: []byte("{}")}, rec) {
			if err != nil {
				class, message = record.Classify(err)
			} else if chunks++; chunks == 1 {
				close(read)
			}
		}
		if class != test.class || chunks != test.chunks || message != test.where+test.cause {
			t.Errorf("after %q: %s, %q with %d chunks; want %s, %q", test.reply, class, message, chunks, test.class, test.where+test.cause)
		}
	}
}

// A brokenConn takes no request.
type brokenConn struct {
	net.Conn
	closed chan struct{}
}

func (c brokenConn) Write([]byte) (int, error) { return 0, os.NewSyscallError("write", syscall.EPIPE) }
func (c brokenConn) Read([]byte) (int, error)  { <-c.closed; return 0, net.ErrClosed }
func (c brokenConn) Close() error              { close(c.closed); return nil }

func TestABrokenPipeIsAReset(t *testing.T) {
	transport := wire.Connections{NetHTTP: netHTTP, Dial: func(context.Context, string, string) (net.Conn, error) {
		return brokenConn{closed: make(chan struct{})}, nil
	}}.Transport()
	if got, _ := ask(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test", Transport: transport}); got.Class != record.Reset {
		t.Errorf("%+v", got)
	}
}

// The bytes are nginx's, a Go server's and OpenSSL's.
func TestAnotherProtocolIsNamed(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.HandlerFunc(streaming))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	// A request of HTTP/2 has come with the first HEADERS frame, which has the type 1.
	playing := func(awaited, bytes string) string {
		return "http://" + serving(t, func(conn *net.TCPConn) {
			seen, part := "", make([]byte, 4096)
			for !strings.Contains(seen, awaited) {
				n, err := conn.Read(part)
				if err != nil {
					return
				}
				seen += string(part[:n])
			}
			_, _ = io.WriteString(conn, bytes)
			_ = conn.CloseWrite()
			_, _ = io.Copy(io.Discard, conn)
		})
	}
	for _, test := range []struct {
		name, url string
		http2     bool
		class     record.Class
		message   string
	}{
		{"HTTP/1.1", playing("\x01\x04\x00\x00\x00\x01", "HTTP/1.1 400 Bad Request\r\nServer: nginx/1.22.1\r\n\r\n"), true,
			record.Malformed, "the server speaks HTTP/1.1, not HTTP/2"},
		{"HTTP/1.1 over TLS", secure.URL, true, record.TLS, "the server speaks HTTP/1.1 over TLS, not HTTP/2"},
		{"HTTP/2", playing("\r\n\r\n", "\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x80\x00\x04\x00\x01\x00\x00\x00\x05\x00\xff\xff\xff\x00\x00\x04\x08"), false,
			record.Malformed, "the server speaks only HTTP/2, not HTTP/1.1"},
		{"TLS", playing("\r\n\r\n", "\x15\x03\x01\x00\x02\x02\x46"), false, record.Malformed, "the server speaks TLS: is its URL https:// instead of http://?"},
	} {
		transport := wire.Connections{NetHTTP: netHTTP, HTTP2: test.http2, Insecure: true}.Transport()
		if got, _ := ask(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: test.url, Transport: transport}); got.Class != test.class || got.Error != test.message {
			t.Errorf("%s: %s, %q", test.name, got.Class, got.Error)
		}
		transport.CloseIdleConnections()
	}
}

func TestAStreamOfHTTP2IsReset(t *testing.T) {
	for chunks := range 2 {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if chunks > 0 {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, aChunk)
				w.(http.Flusher).Flush()
			}
			panic(http.ErrAbortHandler)
		}))
		server.EnableHTTP2 = true
		server.StartTLS()
		transport := wire.Connections{NetHTTP: netHTTP, Insecure: true, HTTP2: true}.Transport()
		got, _ := ask(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: server.URL, Transport: transport})
		if got.Class != record.Reset || got.Chunks != chunks || !strings.Contains(got.Error, "stream error: stream ID 1; INTERNAL_ERROR") {
			t.Errorf("after %d chunks: %+v", chunks, got)
		}
		transport.CloseIdleConnections()
		server.Close()
	}
}

func TestAnInvalidHeaderIsRefusedBeforeConnecting(t *testing.T) {
	for _, test := range []struct{ name, value, want string }{
		{"X-Odd", "a\x01b", "the header X-Odd has a control character in its value"},
		{"X-Odd", "a\r\nX-More: b", "the header X-Odd has a control character in its value"},
		{"X-Odd", "a\x7f", "the header X-Odd has a control character in its value"},
		{"X Odd", "a", `"X Odd" cannot be the name of a header`},
		{"", "a", `"" cannot be the name of a header`},
		{"Größe", "a", `"Größe" cannot be the name of a header`},
		{"X-Odd", "a\tb, \u00e4 \xff", "refused"},
		{"x_odd.1!", "", "refused"},
	} {
		for _, http2 := range []bool{false, true} {
			dials := 0
			transport := wire.Connections{NetHTTP: netHTTP, HTTP2: http2, Dial: func(context.Context, string, string) (net.Conn, error) {
				dials++
				return nil, errors.New("refused")
			}}.Transport()
			got, rec := ask(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test", Transport: transport, Header: http.Header{test.name: {test.value}}})
			want, wantDials := record.Malformed, 0
			if test.want == "refused" {
				want, wantDials = record.Connect, 1
			}
			if got.Class != want || got.Error != test.want || dials != wantDials || rec.Attempts != 0 {
				t.Errorf("%q: %q (HTTP/2 %t): %+v after %d dials", test.name, test.value, http2, got, dials)
			}
		}
	}
}

// A resetConn is reset once a request has been written.
type resetConn struct {
	net.Conn
	written chan struct{}
}

func (c *resetConn) Write(p []byte) (int, error) {
	close(c.written)
	return len(p), nil
}

func (c *resetConn) Read([]byte) (int, error) {
	<-c.written
	return 0, os.NewSyscallError("read", syscall.ECONNRESET)
}

func (c *resetConn) Close() error { return nil }

// Net/http's ClientConn says more than its Transport.
func TestAnErrorBeforeTheReplyIsTheConnectionsOwn(t *testing.T) {
	transport := wire.Connections{NetHTTP: netHTTP, Dial: func(context.Context, string, string) (net.Conn, error) {
		return &resetConn{written: make(chan struct{})}, nil
	}}.Transport()
	got, _ := ask(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test", Transport: transport})
	if want := "the connection was reset before the reply: read: " + syscall.ECONNRESET.Error(); got.Class != record.Reset || got.Error != want {
		t.Errorf("%+v, want %q", got, want)
	}
}
