package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

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
			transport.slots <- struct{}{}
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
