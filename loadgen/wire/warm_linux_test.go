package wire

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen/internal/pipe"
	"github.com/servebench/servebench/metrics"
)

// A crowd is a server that answers only when so many requests have come, so
// that each needs a connection of its own.
type crowd struct {
	*httptest.Server
	mu    sync.Mutex
	conns []net.Conn // accepted
}

func newCrowd(t *testing.T, size int, secure bool) *crowd {
	c := new(crowd)
	var all sync.WaitGroup
	all.Add(size)
	c.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all.Done()
		all.Wait()
		answering(w, r)
	}))
	c.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		if state == http.StateNew {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.conns = append(c.conns, conn)
		}
	}
	c.Config.ErrorLog = log.New(io.Discard, "", 0)
	if secure {
		c.StartTLS()
	} else {
		c.Start()
	}
	t.Cleanup(c.Close)
	return c
}

// accepted waits for n connections and gives all.
func (c *crowd) accepted(n int) []net.Conn {
	for {
		c.mu.Lock()
		conns := c.conns
		c.mu.Unlock()
		if len(conns) >= n {
			return conns
		}
		runtime.Gosched()
	}
}

// The clock of a bubble stands still while the connections of its goroutines are
// waited for, so that none grows stale, however slow the machine is.
func TestWarmedConnectionsServeTheFirstRequests(t *testing.T) {
	for _, secure := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			const n = 300 // more than are opened side by side
			server := newCrowd(t, n, secure)
			tally := new(Tally)
			transport := Connections{Insecure: true, Tally: tally}.Transport()
			if opened, err := transport.Warm(t.Context(), server.URL+"/v1", n); opened != n || err != nil {
				t.Fatalf("%d opened: %v", opened, err)
			}
			tally.Reset()
			var group sync.WaitGroup
			for range n {
				group.Go(func() {
					if rec := fetch(t, transport, server.URL); rec.Class != metrics.OK || rec.Conn != (metrics.Conn{}) || rec.Attempts != 1 {
						t.Errorf("%+v", rec)
					}
				})
			}
			group.Wait()
			if e := evidence(tally); e.Warmed != n || e.Opened != 0 || len(server.accepted(n)) != n {
				t.Errorf("TLS %t: %+v, %d accepted", secure, e, len(server.accepted(n)))
			}
			transport.CloseIdleConnections()
		})
	}
}

func TestAWarmedConnectionThatTheServerClosedIsNotUsed(t *testing.T) {
	for _, secure := range []bool{false, true} {
		server := newCrowd(t, 1, secure)
		tally := new(Tally)
		transport := Connections{Insecure: true, Tally: tally}.Transport()
		if _, err := transport.Warm(t.Context(), server.URL, 2); err != nil {
			t.Fatal(err)
		}
		for _, conn := range server.accepted(2) {
			conn.Close()
		}
		transport.pool.stayFresh() // so that only the closing can tell
		for _, lines := range transport.pool.lines {
			for _, l := range lines {
				for l.conn.alive() {
					runtime.Gosched()
				}
			}
		}
		rec := fetch(t, transport, server.URL)
		if e := evidence(tally); rec.Class != metrics.OK || !rec.Conn.New || e.Opened != 1 {
			t.Errorf("TLS %t: %+v over %+v, %+v", secure, rec, rec.Conn, e)
		}
		transport.CloseIdleConnections()
	}
}

func TestAWarmedConnectionDoesNotWaitForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipe.Listen()
		server := &http.Server{Handler: http.HandlerFunc(answering)}
		go server.Serve(listener)
		tally := new(Tally)
		transport := Connections{Dial: listener.Dial, Tally: tally}.Transport()
		for _, step := range []struct {
			idle time.Duration
			new  bool
		}{{IdleTimeout, false}, {IdleTimeout + 1, true}} {
			transport.CloseIdleConnections()
			if n, err := transport.Warm(t.Context(), "http://server.test/v1", 1); n != 1 || err != nil {
				t.Fatal(n, err)
			}
			time.Sleep(step.idle)
			if rec := fetch(t, transport, "http://server.test"); rec.Class != metrics.OK || rec.Conn.New != step.new {
				t.Errorf("after %v: new connection %t; %+v", step.idle, rec.Conn.New, rec)
			}
		}
		transport.CloseIdleConnections()
		server.Close()
	})
}

func TestWarmedConnectionsThatNobodyTookAreClosed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	transport := Connections{}.Transport()
	if n, err := transport.Warm(t.Context(), "http://"+listener.Addr().String(), 1); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	transport.CloseIdleConnections()
	if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("read %d bytes: %v", n, err)
	}
	if l := transport.pool.take(origin{"http", listener.Addr().String()}); l != nil {
		t.Error("a closed connection was given out")
	}
}

func TestWarmingFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := Connections{Timeout: time.Minute, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}.Transport()
		for url, want := range map[string]string{
			"http://server.test/v1":  "opening connections to server.test:80: no connection within 1m0s: context deadline exceeded",
			"https://server.test/v1": "opening connections to server.test:443: no connection within 1m0s: context deadline exceeded",
			"http:///v1":             "no address in http:///v1",
			"gopher://server.test":   "no address in gopher://server.test",
			"http://[::1":            "missing ']' in host",
		} {
			if n, err := silent.Warm(t.Context(), url, 3); n != 0 || err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %d opened, %v", url, n, err)
			}
		}
	})
}
