package wire

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

// TestTheProxyIsTheEnvironments runs itself in a process with an environment of
// its own: net/http reads that once.
func TestTheProxyIsTheEnvironments(t *testing.T) {
	const proxy = "proxy.test:3128"
	if os.Getenv("LOADGEN_TEST_PROXY") == "" {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(self, "-test.run=^TestTheProxyIsTheEnvironments$")
		for _, kv := range os.Environ() {
			if name, _, _ := strings.Cut(kv, "="); !strings.HasSuffix(strings.ToUpper(name), "_PROXY") && name != "REQUEST_METHOD" {
				cmd.Env = append(cmd.Env, kv)
			}
		}
		cmd.Env = append(cmd.Env, "LOADGEN_TEST_PROXY=1", "HTTP_PROXY=http://"+proxy, "NO_PROXY=myhost:8123,fd00::1,plain")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	for target, want := range map[string]string{
		"http://myhost:8123/v1":  "myhost:8123",
		"http://myhost:9000/v1":  proxy,
		"http://plain/v1":        "plain:80",
		"http://[::1]:8123/v1":   "[::1]:8123",
		"http://[fd00::1]:8123":  "[fd00::1]:8123",
		"http://[fd00::2]:8123":  proxy,
		"http://localhost:8123/": "localhost:8123",
		"http://server.test":     proxy,
	} {
		var dialled string
		refused := errors.New("refused")
		transport := Connections{Dial: func(_ context.Context, _, addr string) (net.Conn, error) {
			dialled = addr
			return nil, refused
		}}.Transport()
		if _, err := transport.Warm(t.Context(), target, 1); !errors.Is(err, refused) || dialled != want {
			t.Errorf("%s goes to %s, want %s; %v", target, dialled, want, err)
		}
		if named := transport.Proxy(target); (named == proxy) != (want == proxy) || named != "" && named != proxy {
			t.Errorf("%s: proxy %q is named", target, named)
		}
	}
}

// A tunnel is a proxy that takes its time, three seconds for the way to the server
// and one for each TLS handshake, and the server behind it.
type tunnel struct {
	secure, target bool // it and the server speak TLS
	server         *tls.Config
}

func (p tunnel) serve(conn net.Conn) {
	defer conn.Close()
	if p.secure {
		time.Sleep(time.Second)
		conn = tls.Server(conn, p.server)
	}
	in := bufio.NewReader(conn)
	if p.target {
		if _, err := http.ReadRequest(in); err != nil {
			return
		}
		time.Sleep(3 * time.Second)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		time.Sleep(time.Second)
		conn = tls.Server(conn, p.server)
		in = bufio.NewReader(conn)
	}
	if req, err := http.ReadRequest(in); err == nil {
		_, _ = io.Copy(io.Discard, req.Body)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	}
	_, _ = in.ReadByte()
}

func TestWhatTheProxyTakesIsPartOfConnecting(t *testing.T) {
	server := certified(t)
	for _, test := range []struct {
		proxy, target string
		took          time.Duration
		secured       int
	}{
		{"http://proxy.test:3128", "http://server.test", 0, 0},
		{"http://proxy.test:3128", "https://server.test", 3 * time.Second, 1},
		{"https://proxy.test:3128", "http://server.test", 0, 1},
		{"https://proxy.test:3128", "https://server.test", 3 * time.Second, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			address, err := url.Parse(test.proxy)
			if err != nil {
				t.Fatal(err)
			}
			p := tunnel{address.Scheme == "https", strings.HasPrefix(test.target, "https"), server}
			var conn *stampedConn
			transport := Connections{Insecure: true, Proxy: http.ProxyURL(address), Dial: func(context.Context, string, string) (net.Conn, error) {
				near, far := net.Pipe()
				go p.serve(far)
				return near, nil
			}}.Transport()
			rec := fetch(t, transport, test.target)
			for _, lines := range transport.pool.lines {
				conn = lines[0].conn
			}
			if want := (record.Conn{New: true, Proxy: test.took, TLS: time.Duration(test.secured) * time.Second}); rec.Result.Class != record.OK || rec.Conn != want {
				t.Errorf("%s by %s: %+v over %+v", test.target, test.proxy, rec, rec.Conn)
			} else if conn == nil || conn.secured != test.secured {
				t.Errorf("%s by %s: TLS is not known to lie %d times above %+v", test.target, test.proxy, test.secured, conn)
			}
			transport.CloseIdleConnections()
		})
	}
}
