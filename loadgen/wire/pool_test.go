package wire

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen/internal/pipe"
	"github.com/servebench/servebench/metrics/record"
)

// A busy server takes a second for each request and counts what it has at once.
type busyServer struct {
	listener         *pipe.Listener
	requests, most   atomic.Int64
	connected, ended atomic.Int64
}

// busy runs f beside a busy server, in fake time.
func busy(t *testing.T, f func(t *testing.T, s *busyServer)) {
	synctest.Test(t, func(t *testing.T) {
		s := &busyServer{listener: pipe.Listen()}
		web := &http.Server{
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				s.most.Store(max(s.most.Load(), s.requests.Add(1)))
				time.Sleep(time.Second)
				s.requests.Add(-1)
				answering(w, r)
			}),
			ConnState: func(_ net.Conn, state http.ConnState) {
				switch state {
				case http.StateNew:
					s.connected.Add(1)
				case http.StateClosed:
					s.ended.Add(1)
				}
			},
		}
		go web.Serve(s.listener)
		f(t, s)
		web.Close()
	})
}

func TestTheLimitHoldsRequestsBack(t *testing.T) {
	busy(t, func(t *testing.T, s *busyServer) {
		transport := Connections{Limit: 2, Dial: s.listener.Dial}.Transport()
		defer transport.CloseIdleConnections()
		var group sync.WaitGroup
		for range 6 {
			group.Go(func() {
				if rec := fetch(t, transport, "http://server.test"); rec.Result.Class != record.OK {
					t.Errorf("%+v", rec)
				}
			})
		}
		synctest.Wait()
		// Who waits for room and gives up says why.
		enough := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, enough)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://server.test", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := transport.RoundTrip(r); err != enough {
			t.Errorf("%v, want %v", err, enough)
		}
		began := time.Now()
		group.Wait()
		if took := time.Since(began).Round(time.Second); took != 3*time.Second || s.most.Load() != 2 || s.connected.Load() != 2 {
			t.Errorf("6 requests of 1 s, 2 at once, took %v, with %d at once over %d connections", took, s.most.Load(), s.connected.Load())
		}
	})
}

func TestLinesThatNobodyNeedsAreClosedWhileOthersWork(t *testing.T) {
	busy(t, func(t *testing.T, s *busyServer) {
		transport := Connections{Dial: s.listener.Dial}.Transport()
		defer transport.CloseIdleConnections()
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() { fetch(t, transport, "http://server.test") })
		}
		group.Wait()
		for range 6 { // longer than the other two may lie
			fetch(t, transport, "http://server.test")
		}
		synctest.Wait()
		if s.connected.Load() != 3 || s.ended.Load() != 2 {
			t.Errorf("%d connections, %d of them closed; want 3 and 2", s.connected.Load(), s.ended.Load())
		}
	})
}

// A process that stands still while it puts a line away finds none that is fresh.
func TestAllLinesMayHaveLainIdleForTooLong(t *testing.T) {
	busy(t, func(t *testing.T, s *busyServer) {
		transport := Connections{Dial: s.listener.Dial}.Transport()
		l, err := transport.open(t.Context(), origin{"http", "server.test:80"})
		if err != nil {
			t.Fatal(err)
		}
		l.since, l.answers = time.Now(), 1
		time.Sleep(idleTimeout)
		if lines := fresh([]*link{l}); len(lines) != 1 || l.Err() != nil {
			t.Errorf("%d lines after %v, %v", len(lines), idleTimeout, l.Err())
		}
		time.Sleep(time.Nanosecond)
		if lines := fresh([]*link{l}); len(lines) != 0 || l.Err() == nil {
			t.Errorf("%d lines after more, %v", len(lines), l.Err())
		}
	})
}

// stayFresh keeps what is there from growing stale, however slow the test is.
func (s *pool) stayFresh() {
	for _, lines := range s.lines {
		for _, l := range lines {
			l.since = time.Now().Add(time.Hour)
		}
	}
}
