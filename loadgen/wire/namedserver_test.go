package wire

import (
	"context"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// asked collects the names that are looked up. All lead to this machine.
type asked struct {
	mu    sync.Mutex
	names []string
}

func (a *asked) lookup(_ context.Context, name string) ([]netip.Addr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.names = append(a.names, name)
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

// named is the URL of server with another host.
func named(server *httptest.Server, host string) string {
	u, _ := url.Parse(server.URL)
	return u.Scheme + "://" + net.JoinHostPort(host, u.Port())
}

// fetched sends a request and drops the answer.
func fetched(t *testing.T, transport *Transport, url string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	reply, err := transport.RoundTrip(r)
	if err != nil {
		t.Error(err)
		return
	}
	_, _ = io.Copy(io.Discard, reply.Body)
	reply.Body.Close()
}

// Whoever connects, certificates and virtual hosts go by the name.
func TestAServerSeesItsName(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host, _, _ := net.SplitHostPort(r.Host); host != "example.com" || r.TLS.ServerName != "example.com" {
			t.Errorf("host %q, server name %q", r.Host, r.TLS.ServerName)
		}
		w.Header().Set("Connection", "close")
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	authorities := x509.NewCertPool()
	authorities.AddCert(server.Certificate())
	for name, c := range map[string]Connections{"own": {}, "net/http": {NetHTTP: true}, "HTTP/2": {HTTP2: true}} {
		t.Run(name, func(t *testing.T) {
			var a asked
			c.Names, c.TLS.Authorities = &Names{Lookup: a.lookup}, authorities
			defer c.Names.Close()
			transport := c.Transport()
			defer transport.CloseIdleConnections()
			for range 3 {
				fetched(t, transport, named(server, "example.com"))
				transport.CloseIdleConnections()
			}
			fetched(t, transport.Apart(), named(server, "example.com"))
			if want := []string{"example.com"}; !slices.Equal(a.names, want) {
				t.Errorf("looked up %v", a.names)
			}
		})
	}
}

func TestTheNameOfAProxyIsLookedUp(t *testing.T) {
	var hosts []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { hosts = append(hosts, r.Host) }))
	defer proxy.Close()
	var a asked
	names := &Names{Lookup: a.lookup}
	defer names.Close()
	transport := Connections{Names: names, Proxy: func(*http.Request) (*url.URL, error) {
		return url.Parse(named(proxy, "proxy.test"))
	}}.Transport()
	defer transport.CloseIdleConnections()
	for range 2 {
		fetched(t, transport, "http://server.test")
		transport.CloseIdleConnections()
	}
	if !slices.Equal(a.names, []string{"proxy.test"}) || !slices.Equal(hosts, []string{"server.test", "server.test"}) {
		t.Errorf("looked up %v; the proxy was asked for %v", a.names, hosts)
	}
}

// A name such as localhost leads to two families, and a server may listen on one.
func TestAServerOnOneFamilyIsReached(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	names := &Names{Lookup: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.IPv6Loopback(), netip.MustParseAddr("127.0.0.1")}, nil
	}}
	defer names.Close()
	transport := Connections{Names: names}.Transport()
	for range 4 {
		fetched(t, transport, named(server, "localhost"))
		transport.CloseIdleConnections()
	}
}

func TestTheSystemKnowsThisMachine(t *testing.T) {
	addrs, err := systemLookup(t.Context(), "localhost")
	if err != nil || len(addrs) == 0 || slices.ContainsFunc(addrs, func(a netip.Addr) bool { return !a.IsLoopback() || a.Is4In6() }) {
		t.Errorf("%v, %v", addrs, err)
	}
}
