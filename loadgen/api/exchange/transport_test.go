package exchange_test

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/record"
)

// streaming answers every request with the same stream.
func streaming(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, part := range []string{aChunk, lastChunk, usageChunk + doneEvent} {
		_, _ = io.WriteString(w, part)
		w.(http.Flusher).Flush()
	}
}

// serverTLS is the configuration of some server.
func serverTLS(t *testing.T) *tls.Config {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	return &tls.Config{Certificates: server.TLS.Certificates}
}

func TestHTTP2IsSpokenWhereItIsAskedFor(t *testing.T) {
	for _, test := range []struct {
		name          string
		secure, asked bool
		want          string
	}{
		{"over TLS", true, true, "HTTP/2.0"},
		{"with prior knowledge", false, true, "HTTP/2.0"},
		{"not asked for over TLS", true, false, "HTTP/1.1"},
		{"not asked for", false, false, "HTTP/1.1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(http.HandlerFunc(streaming))
			server.EnableHTTP2 = true
			if test.secure {
				server.StartTLS()
			} else {
				server.Config.Protocols = new(http.Protocols)
				server.Config.Protocols.SetHTTP1(true)
				server.Config.Protocols.SetUnencryptedHTTP2(true)
				server.Start()
			}
			defer server.Close()
			tally := new(wire.Tally)
			transport := wire.Connections{NetHTTP: netHTTP, Insecure: true, HTTP2: test.asked, Tally: tally}.Transport()
			defer transport.CloseIdleConnections()
			if n, err := transport.Warm(t.Context(), server.URL, 3); err != nil || (n == 1) != test.asked {
				t.Errorf("%d connections opened beforehand: %v", n, err)
			}
			o := &exchange.Endpoint{Protocol: completions.Protocol, URL: server.URL, Transport: transport, Tally: tally}
			for range 3 {
				if got, rec := ask(t, o); got.Class != record.OK || got.Chunks != 2 || rec.Conn != (record.Conn{}) {
					t.Errorf("%+v over %+v", got, rec.Conn)
				}
			}
			e := reported(tally)
			if e.Connections.Protocol != test.want || e.Stamps.Kernel+e.Stamps.User != 6 || e.Connections.Opened != 0 {
				t.Errorf("%+v; want %s", e, test.want)
			}
			if e.Stamps.Kernel > 0 && test.want == "HTTP/2.0" {
				t.Error("a stream of HTTP/2 took a stamp of its connection's for its own")
			}
		})
	}
}

func TestHTTP2IsNotMadeUp(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(streaming))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	transport := wire.Connections{NetHTTP: netHTTP, Insecure: true, HTTP2: true}.Transport()
	defer transport.CloseIdleConnections()
	if n, err := transport.Warm(t.Context(), server.URL, 3); n != 0 || err == nil {
		t.Errorf("%d connections to a server that knows only HTTP/1.1", n)
	}
	if got, _ := ask(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: server.URL, Transport: transport}); got.Class != record.TLS {
		t.Errorf("%+v", got)
	}
}

func TestAUnixSocketIsDialledInPlaceOfTheAddress(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Skip("no Unix sockets:", err)
	}
	server := &http.Server{Handler: http.HandlerFunc(streaming)}
	go server.Serve(listener)
	defer server.Close()
	tally := new(wire.Tally)
	transport := wire.Connections{NetHTTP: netHTTP, Socket: path, Tally: tally}.Transport()
	defer transport.CloseIdleConnections()
	if n, err := transport.Warm(t.Context(), "http://server.test/v1", 1); n != 1 || err != nil {
		t.Errorf("%d opened beforehand: %v", n, err)
	}
	got, rec := ask(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test/v1", Transport: transport, Tally: tally})
	if got.Class != record.OK || got.Chunks != 2 || rec.Answer.MaxAge != 0 || rec.Conn.New {
		t.Errorf("%+v, greatest age %v, connection %+v", got, rec.Answer.MaxAge, rec.Conn)
	}
	if e := reported(tally); e.Stamps.User != 2 || e.Stamps.Kernel != 0 || e.Connections.Warmed != 1 || e.Connections.Opened != 0 {
		t.Errorf("%+v", e)
	}
	if proxy := transport.Proxy("http://server.test"); proxy != "" {
		t.Errorf("proxy %q", proxy)
	}
}

func TestTheProxyIsNamedAndWarmed(t *testing.T) {
	asked := make(chan string, 9)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.String()
		streaming(w, r)
	}))
	defer proxy.Close()
	address, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	transport := wire.Connections{NetHTTP: netHTTP, Proxy: http.ProxyURL(address)}.Transport()
	defer transport.CloseIdleConnections()
	const target = "http://server.test/v1"
	if got := transport.Proxy(target); got != address.Host {
		t.Errorf("proxy %q, want %q", got, address.Host)
	}
	if n, err := transport.Warm(t.Context(), target, 1); n != 1 || err != nil {
		t.Errorf("%d opened beforehand: %v", n, err)
	}
	if got, rec := ask(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: target, Transport: transport}); got.Class != record.OK || rec.Conn.New || <-asked != target {
		t.Errorf("%+v over %+v", got, rec.Conn)
	}
}
