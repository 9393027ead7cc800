package loadgen

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/servebench/servebench/metrics"
)

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
			transport := Connections{HTTP2: http2, Dial: func(context.Context, string, string) (net.Conn, error) {
				dials++
				return nil, errors.New("refused")
			}}.Transport()
			got, rec := ask(t, &OpenAI{URL: "http://server.test", Transport: transport, Header: http.Header{test.name: {test.value}}})
			want, wantDials := metrics.Malformed, 0
			if test.want == "refused" {
				want, wantDials = metrics.Connect, 1
			}
			if got.Class != want || got.Error != test.want || dials != wantDials || rec.Attempts != 0 {
				t.Errorf("%q: %q (HTTP/2 %t): %+v after %d dials", test.name, test.value, http2, got, dials)
			}
		}
	}
}

// A closing body notes that it was closed.
type closingBody struct {
	io.Reader
	closed int
}

func (b *closingBody) Close() error { b.closed++; return nil }

func TestTheBodyOfARequestThatGoesNowhereIsClosed(t *testing.T) {
	for name, spoil := range map[string]func(r *http.Request, transport *Transport) *http.Request{
		"header": func(r *http.Request, _ *Transport) *http.Request {
			r.Header.Set("X-Odd", "\x01")
			return r
		},
		"no room": func(r *http.Request, transport *Transport) *http.Request {
			transport.room <- struct{}{}
			ctx, cancel := context.WithCancel(r.Context())
			cancel()
			return r.WithContext(ctx)
		},
		"no address": func(r *http.Request, _ *Transport) *http.Request {
			r.URL.Host = ""
			return r
		},
		"no connection": func(r *http.Request, _ *Transport) *http.Request { return r },
	} {
		transport := Connections{Limit: 1, Dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, errors.New("refused")
		}}.Transport()
		body := &closingBody{Reader: strings.NewReader("{}")}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://server.test", body)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := transport.RoundTrip(spoil(r, transport)); err == nil || body.closed != 1 {
			t.Errorf("%s: %v; closed %d times", name, err, body.closed)
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
	transport := Connections{Dial: func(context.Context, string, string) (net.Conn, error) {
		return &resetConn{written: make(chan struct{})}, nil
	}}.Transport()
	got, _ := ask(t, &OpenAI{URL: "http://server.test", Transport: transport})
	if want := "the connection was reset before the reply: read: " + syscall.ECONNRESET.Error(); got.Class != metrics.Reset || got.Error != want {
		t.Errorf("%+v, want %q", got, want)
	}
}
