package exchange_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/record"
)

// socksProxy is a proxy that speaks SOCKS5, RFC 1928 and 1929, and wants a name and a
// password. Whatever host it is asked for, it connects to server. It gives its address
// and the hosts.
func socksProxy(t *testing.T, server string) (addr string, asked chan string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked = make(chan string, 9)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				in := bufio.NewReader(conn)
				host, err := socksHandshake(conn, in)
				if err != nil {
					t.Error("SOCKS:", err)
					return
				}
				asked <- host
				far, err := net.Dial("tcp", server)
				if err != nil {
					_, _ = conn.Write([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0}) // refused
					return
				}
				defer far.Close()
				_, _ = conn.Write([]byte{5, 0, 0, 1, 127, 0, 0, 1, 0, 80})
				var both sync.WaitGroup
				both.Go(func() { _, _ = io.Copy(far, in); far.(*net.TCPConn).CloseWrite() })
				both.Go(func() { _, _ = io.Copy(conn, far); conn.(*net.TCPConn).CloseWrite() })
				both.Wait()
			}()
		}
	}()
	return listener.Addr().String(), asked
}

// socksHandshake is the proxy's part of it up to the host that the client names.
func socksHandshake(conn net.Conn, in *bufio.Reader) (host string, err error) {
	// counted reads what a byte before it has the length of.
	counted := func() string {
		n, failed := in.ReadByte()
		text := make([]byte, n)
		_, short := io.ReadFull(in, text)
		err = errors.Join(err, failed, short)
		return string(text)
	}
	head := make([]byte, 4)
	_, _ = in.ReadByte() // version
	if methods := counted(); !strings.Contains(methods, "\x02") {
		return "", fmt.Errorf("methods %q", methods)
	}
	_, _ = conn.Write([]byte{5, 2})
	_, _ = in.ReadByte() // version
	if name, password := counted(), counted(); name != "me" || password != "s3cret" {
		return "", fmt.Errorf("%s:%s", name, password)
	}
	_, _ = conn.Write([]byte{1, 0})
	if _, short := io.ReadFull(in, head); short != nil || head[1] != 1 || head[3] != 3 {
		return "", fmt.Errorf("request %v, %v", head, short)
	}
	host = counted()
	port := make([]byte, 2)
	_, short := io.ReadFull(in, port)
	return fmt.Sprintf("%s:%d", host, int(port[0])<<8|int(port[1])), errors.Join(err, short)
}

// withoutProxies takes the proxies of this machine out of the environment.
func withoutProxies(t *testing.T) {
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasSuffix(strings.ToUpper(name), "_PROXY") || name == "REQUEST_METHOD" {
			t.Setenv(name, "")
		}
	}
}

// TestAServerIsReachedThroughSOCKS does so over HTTP and TLS, by a name that only the
// proxy can resolve.
func TestAServerIsReachedThroughSOCKS(t *testing.T) {
	withoutProxies(t)
	plain := httptest.NewServer(http.HandlerFunc(streaming))
	defer plain.Close()
	secure := httptest.NewTLSServer(http.HandlerFunc(streaming))
	defer secure.Close()
	for target, server := range map[string]*httptest.Server{"http://server.test": plain, "https://server.test": secure} {
		addr, asked := socksProxy(t, server.Listener.Addr().String())
		t.Setenv("ALL_PROXY", "socks5://me:s3cret@"+addr)
		tally := new(wire.Tally)
		transport := wire.Connections{NetHTTP: netHTTP, Insecure: true, Tally: tally}.Transport()
		got, rec := ask(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: target, Transport: transport, Tally: tally})
		if got.Class != record.OK || got.Chunks != 2 || !rec.Conn.New || rec.Conn.Proxy <= 0 {
			t.Fatalf("%s: %+v over %+v", target, got, rec.Conn)
		}
		want := map[string]string{"http": "server.test:80", "https": "server.test:443"}[target[:strings.Index(target, ":")]]
		if host := <-asked; host != want || transport.Proxy(target) != addr {
			t.Errorf("the proxy %s was asked for %s, and %s is named", addr, host, transport.Proxy(target))
		}
		if e := reported(tally); e.Stamps.Kernel+e.Stamps.User != 2 {
			t.Errorf("%s: %d stamps of the kernel's, %d others", target, e.Stamps.Kernel, e.Stamps.User)
		}
		if got, rec := ask(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: target, Transport: transport}); got.Class != record.OK || rec.Conn.New {
			t.Errorf("%s, the second request: %+v over %+v", target, got, rec.Conn)
		}
		transport.CloseIdleConnections()
	}
}

func TestWhatASOCKSProxyRefuses(t *testing.T) {
	withoutProxies(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	addr, _ := socksProxy(t, gone.Listener.Addr().String())
	t.Setenv("ALL_PROXY", "socks5://me:s3cret@"+addr)
	got, _ := ask(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test", Transport: wire.Connections{NetHTTP: netHTTP}.Transport()})
	if got.Class != record.Connect || !strings.HasSuffix(got.Error, "connection refused") {
		t.Errorf("%+v", got)
	}
}

func TestWhichProxyTheEnvironmentNames(t *testing.T) {
	for _, test := range []struct {
		environment, target, want string // where the connection goes; "" for none
	}{
		{"ALL_PROXY=socks5://all:1", "http://server.test", "all:1"},
		{"ALL_PROXY=socks5h://all:1", "https://server.test", "all:1"},
		{"all_proxy=socks://all:1/", "https://server.test", "all:1"},
		{"ALL_PROXY=http://all:1 all_proxy=http://small:1", "http://server.test", "all:1"},
		{"ALL_PROXY=all:1", "http://server.test", "all:1"},
		{"ALL_PROXY=socks5://all:1 HTTP_PROXY=http://one:2", "http://server.test", "one:2"},
		{"ALL_PROXY=socks5://all:1 HTTP_PROXY=http://one:2", "https://server.test", "all:1"},
		{"HTTPS_PROXY=socks5://one:2", "https://server.test", "one:2"},
		{"HTTPS_PROXY=socks5://one:2", "http://server.test", "server.test:80"},
		{"ALL_PROXY=socks5://all:1 NO_PROXY=other,.test", "http://server.test", "server.test:80"},
		{"ALL_PROXY=socks5://all:1", "http://localhost", "localhost:80"},
		{"ALL_PROXY=socks5://all:1", "http://127.0.0.1:8000", "127.0.0.1:8000"},
		{"ALL_PROXY=socks4://me:s3cret@all:1", "http://server.test", ""},
	} {
		withoutProxies(t)
		for variable := range strings.FieldsSeq(test.environment) {
			name, value, _ := strings.Cut(variable, "=")
			t.Setenv(name, value)
		}
		dialled, refused := "", errors.New("refused")
		transport := wire.Connections{NetHTTP: netHTTP, Dial: func(_ context.Context, _, addr string) (net.Conn, error) {
			dialled = addr
			return nil, refused
		}}.Transport()
		_, err := transport.Warm(t.Context(), test.target, 1)
		if dialled != test.want || test.want != "" && !errors.Is(err, refused) {
			t.Errorf("%s: %s goes to %q, want %q; %v", test.environment, test.target, dialled, test.want, err)
		}
		if test.want == "" && (err == nil || !strings.HasSuffix(err.Error(), "the proxy all:1: it must be of http, https or socks5, not socks4")) {
			t.Errorf("%s: %v", test.environment, err)
		}
	}
}
