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
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen/internal/pipe"
	"github.com/servebench/servebench/metrics/record"
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
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
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
					if rec := fetch(t, transport, server.URL); rec.Result.Class != record.OK || rec.Conn != (record.Conn{}) || rec.Attempts != 1 {
						t.Errorf("%+v", rec)
					}
				})
			}
			group.Wait()
			if e := seenBy(tally); e.Connections.Warmed != n || e.Connections.Opened != 0 || len(server.accepted(n)) != n {
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
				for l.alive() {
					runtime.Gosched()
				}
			}
		}
		rec := fetch(t, transport, server.URL)
		if e := seenBy(tally); rec.Result.Class != record.OK || !rec.Conn.New || e.Connections.Opened != 1 {
			t.Errorf("TLS %t: %+v over %+v, %+v", secure, rec, rec.Conn, e)
		}
		transport.CloseIdleConnections()
	}
}

// keeping runs f with a server that closes connections that wait for a first request for longer than
// patience, in fake time. The transport allows limit requests at once, and 0 means any number.
func keeping(t *testing.T, patience time.Duration, limit int, f func(t *testing.T, transport *Transport, tally *Tally)) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipe.Listen()
		server := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			answering(w, r)
		})}
		go server.Serve(listener)
		tally := new(Tally)
		transport := Connections{Dial: listener.Dial, Tally: tally, Limit: limit}.Transport()
		f(t, transport, tally)
		transport.CloseIdleConnections()
		server.Close()
		synctest.Wait()
	})
}

// fetchAll sends n requests at once and returns how many of them opened a connection.
func fetchAll(t *testing.T, transport *Transport, n int) int {
	var group sync.WaitGroup
	var opened atomic.Int64
	for range n {
		group.Go(func() {
			rec := fetch(t, transport, "http://server.test")
			if rec.Result.Class != record.OK || rec.Attempts != 1 {
				t.Errorf("%+v", rec)
			}
			if rec.Conn.New {
				opened.Add(1)
			}
		})
	}
	group.Wait()
	return int(opened.Load())
}

// A warmed connection waits for its first request for as long as the server keeps it, and after an
// answer for idleTimeout.
func TestAWarmedConnectionWaitsForItsFirstRequest(t *testing.T) {
	keeping(t, 0, 0, func(t *testing.T, transport *Transport, tally *Tally) {
		if n, err := transport.Warm(t.Context(), "http://server.test/v1", 1000); n != 1000 || err != nil {
			t.Fatal(n, err)
		}
		for _, step := range []struct {
			idle time.Duration
			new  int
		}{{time.Hour, 0}, {idleTimeout, 0}, {idleTimeout + 1, 1000}} {
			time.Sleep(step.idle)
			if opened := fetchAll(t, transport, 1000); opened != step.new {
				t.Errorf("after %v: %d connections opened, want %d", step.idle, opened, step.new)
			}
		}
		if e := seenBy(tally); e.Connections.Warmed != 1000 || e.Connections.Opened != 1000 {
			t.Errorf("%+v", e)
		}
	})
}

// A server may close connections while others are still being opened.
func TestConnectionsThatTheServerClosedAreWarmedAgain(t *testing.T) {
	keeping(t, time.Minute, 0, func(t *testing.T, transport *Transport, tally *Tally) {
		var dialled atomic.Int32
		dial := transport.connections.Dial
		transport.connections.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if dialled.Add(1) == 2 {
				time.Sleep(2 * time.Minute)
			}
			return dial(ctx, network, addr)
		}
		if n, err := transport.Warm(t.Context(), "http://server.test/v1", 2); n != 2 || err != nil {
			t.Fatal(n, err)
		}
		if opened, e := fetchAll(t, transport, 2), seenBy(tally); opened != 0 || e.Connections.Warmed != 3 || e.Connections.Opened != 0 {
			t.Errorf("%d opened again, %+v", opened, e)
		}
	})
}

// Ahead opens what is lacking, and keeps what is there from growing old.
func TestAheadOpensWhatIsLacking(t *testing.T) {
	keeping(t, 10*time.Second, 0, func(t *testing.T, transport *Transport, tally *Tally) {
		if _, err := transport.Warm(t.Context(), "http://server.test", 1); err != nil {
			t.Fatal(err)
		}
		announce := func(n int) {
			for i := range n {
				transport.Ahead(t.Context(), "http://server.test", i+1)
			}
		}
		for i, step := range []struct {
			idle           time.Duration
			requests       int
			warmed, opened int64 // so far
		}{
			{0, 1, 1, 0},                 // the warmed one
			{0, 3, 3, 0},                 // two more
			{idleTimeout/2 + 1, 3, 6, 0}, // those with an answer would soon be too old
			{0, 2, 6, 0},
		} {
			time.Sleep(step.idle)
			announce(step.requests)
			time.Sleep(time.Second)
			fetchAll(t, transport, step.requests)
			if e := seenBy(tally); e.Connections.Warmed != step.warmed || e.Connections.Opened != step.opened {
				t.Errorf("step %d: %+v, want %+v", i, e, step)
			}
		}
		time.Sleep(idleTimeout)
		announce(5)
		time.Sleep(9 * time.Second) // these are kept
		announce(5)
		if e := seenBy(tally); e.Connections.Warmed != 6+5 {
			t.Errorf("connections that wait were opened again: %+v", e)
		}
		time.Sleep(9 * time.Second) // the server has closed them
		announce(5)
		if opened, e := fetchAll(t, transport, 5), seenBy(tally); opened != 0 || e.Connections.Warmed != 6+5+5 {
			t.Errorf("%d opened, %+v", opened, e)
		}
	})
}

func TestAheadKeepsTheLimit(t *testing.T) {
	keeping(t, 0, 3, func(t *testing.T, transport *Transport, tally *Tally) {
		var busy sync.WaitGroup
		busy.Go(func() { fetchAll(t, transport, 2) })
		synctest.Wait()
		for i := range 9 {
			transport.Ahead(t.Context(), "http://server.test", i+1)
		}
		if e := seenBy(tally); e.Connections.Warmed != 1 || e.Connections.Opened != 2 {
			t.Errorf("%+v", e)
		}
		busy.Wait()
	})
}

// What cannot be opened ahead is left to the request.
func TestAheadFailsSilently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refusing := Connections{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, syscall.ECONNREFUSED }}.Transport()
		for _, url := range []string{"http://server.test", "http://[::1"} {
			refusing.Ahead(t.Context(), url, 1)
		}
		ctx, cancel := context.WithCancel(t.Context())
		for range warmTogether {
			refusing.ahead <- struct{}{}
		}
		cancel()
		refusing.Ahead(ctx, "http://server.test", 1)
		if n := refusing.pool.opening[origin{"http", "server.test:80"}]; n != 0 {
			t.Errorf("%d are still being opened", n)
		}
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
