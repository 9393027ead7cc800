package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
)

// A ledger is a server that notes when it had written each answer to its end.
type ledger struct {
	*httptest.Server

	mu      sync.Mutex
	carries map[net.Conn]string  // the request that it is on
	done    map[string]time.Time // by request
	waiting map[string]func()    // are told of the first request whose id begins so
}

// carrier is the key of a request's connection in its context.
type carrier struct{}

func newLedger(t *testing.T) *ledger {
	t.Helper()
	engine, err := sim.New(sim.Config{
		Model: "stub-32000", Tokenizer: tokenizer.Stub{Size: 32000}, Cost: speed.Cost{Base: 60 * time.Millisecond},
		Limits: sim.Limits{ModelLen: 4096, NumSeqs: 1024, NumBatchedTokens: 1 << 16},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Close)
	l := &ledger{carries: map[net.Conn]string{}, done: map[string]time.Time{}, waiting: map[string]func(){}}
	l.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		l.carries[r.Context().Value(carrier{}).(net.Conn)] = r.Header.Get("X-Request-Id")
		l.mu.Unlock()
		engine.ServeHTTP(w, r)
	}))
	l.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, carrier{}, c) }
	l.Config.ConnState = l.note
	l.Start()
	t.Cleanup(l.Close)
	return l
}

// note takes down that a connection has carried an answer to its end.
func (l *ledger) note(c net.Conn, state http.ConnState) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	id := l.carries[c]
	delete(l.carries, c)
	if state != http.StateIdle || id == "" {
		return
	}
	l.done[id] = now
	if number := strings.LastIndexByte(id, '-') + 1; l.waiting[id[:number]] != nil {
		l.waiting[id[:number]]()
	}
}

// first is closed once a request has been answered whose id begins so.
func (l *ledger) first(prefix string) <-chan struct{} {
	done := make(chan struct{})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting[prefix] = sync.OnceFunc(func() { close(done) })
	return done
}

// answered are the requests whose ids begin so, and when they were answered.
func (l *ledger) answered(prefix string) map[string]time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[string]time.Time{}
	for id, at := range l.done {
		if strings.HasPrefix(id, prefix) {
			all[id] = at
		}
	}
	return all
}
