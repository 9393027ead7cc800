package wire

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

// slowly reads the first byte of a request after a minute and a second, the rest
// a second later, and answers one more second later. It does so twice.
func slowly(conn net.Conn, wrap func(net.Conn) net.Conn) {
	defer conn.Close()
	conn = wrap(conn)
	for in := bufio.NewReader(conn); ; {
		time.Sleep(61 * time.Second)
		if _, err := in.Peek(1); err != nil {
			return
		}
		time.Sleep(time.Second)
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, req.Body)
		time.Sleep(time.Second)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
		time.Sleep(time.Second)
		_, _ = io.WriteString(conn, "0\r\n\r\n")
	}
}

// A drip gives a byte, and the rest at the next Read.
type drip struct {
	net.Conn
	begun bool
}

func (d *drip) Read(p []byte) (int, error) {
	if !d.begun {
		d.begun, p = true, p[:1]
	}
	return d.Conn.Read(p)
}

func TestWroteIsWhenTheLastByteWasWritten(t *testing.T) {
	server := certified(t)
	for _, test := range []struct {
		url  string
		wrap func(net.Conn) net.Conn
		want time.Duration
	}{
		{"http://server.test", func(c net.Conn) net.Conn { return &drip{Conn: c} }, 62 * time.Second},
		{"https://server.test", func(c net.Conn) net.Conn {
			secure := tls.Server(c, server)
			_ = secure.Handshake()
			return secure
		}, 61 * time.Second}, // TLS takes all of a record
	} {
		synctest.Test(t, func(t *testing.T) {
			transport := Connections{Insecure: true, Dial: func(context.Context, string, string) (net.Conn, error) {
				near, far := net.Pipe()
				go slowly(far, test.wrap)
				return near, nil
			}}.Transport()
			rec := fetch(t, transport, test.url)
			if rec.Result.Class != record.OK || rec.Times.Wrote != test.want || rec.Times.FirstByte != 63*time.Second {
				t.Errorf("%s: %+v, written at %v, first byte at %v", test.url, rec, rec.Times.Wrote, rec.Times.FirstByte)
			}
			transport.CloseIdleConnections()
			time.Sleep(24 * time.Hour) // longer than the server sleeps
		})
	}
}

func TestWroteIsOfTheRequestsOwnWrites(t *testing.T) {
	conn := stamp(new(silentConn), askForStamps)
	synctest.Test(t, func(t *testing.T) {
		conn.opened = time.Now()
		for i, asking := range []bool{false, true, false} { // a handshake, a request, a key update
			time.Sleep(time.Second)
			conn.asking.Store(asking)
			if _, err := conn.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
			if got, want := conn.written().Sub(conn.opened), min(time.Duration(i), 1)*2*time.Second; got != want {
				t.Errorf("after write %d: written at %v, want %v", i, got, want)
			}
		}
	})
}

// A silentConn takes all that is written.
type silentConn struct{ net.Conn }

func (silentConn) Write(p []byte) (int, error) { return len(p), nil }

// A large request waits for the server to read it. What a small one waits for is our own delay.
func TestOnlyLargeRequestsWaitForTheReader(t *testing.T) {
	for size, want := range map[int]time.Duration{fitsSocket: 0, fitsSocket + 1: 2 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			asked := &Trace{Epoch: time.Now(), Size: size}
			hooks := asked.Hooks()
			time.Sleep(time.Second)
			hooks.GotConn(httptrace.GotConnInfo{Reused: true})
			time.Sleep(2 * time.Second)
			hooks.WroteRequest(httptrace.WroteRequestInfo{})
			var rec record.Record
			if asked.Into(&rec); rec.Times.Waited != want || rec.Times.Wrote != 3*time.Second {
				t.Errorf("%d bytes: %+v", size, rec)
			}
		})
	}
}

// On HTTP/2 a request may get a connection that another request opened, while it opens one itself.
func TestTheWaitForTheConnectionOfAnotherIsNotOurDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := &Trace{Epoch: time.Now()}
		hooks := asked.Hooks()
		time.Sleep(time.Second)
		hooks.ConnectStart("tcp", "server.test:80")
		time.Sleep(2 * time.Second)
		hooks.GotConn(httptrace.GotConnInfo{Reused: true})
		hooks.WroteRequest(httptrace.WroteRequestInfo{})
		var rec record.Record
		if asked.Into(&rec); rec.Times.Waited != 2*time.Second || rec.Times.Wrote != 3*time.Second || rec.Conn != (record.Conn{}) {
			t.Errorf("%+v", rec)
		}
	})
}
