package sim

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen/sim/steps"
)

// A harness is a server and the real net/http client in one bubble of fake
// time, joined by pipes.
type harness struct {
	*Server
	t      *testing.T
	client *http.Client
	mu     sync.Mutex
	traces map[string]steps.Trace // by request id
	left   func(steps.Trace)      // called by the engine when a request leaves it; nil for nothing
}

// bubble runs f with a server and closes everything after it.
func bubble(t *testing.T, cfg Config, f func(h *harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &harness{t: t, traces: make(map[string]steps.Trace)}
		cfg.Tokenizer = stub
		cfg.Trace = func(tr steps.Trace) {
			h.mu.Lock()
			h.traces[tr.ID] = tr
			h.mu.Unlock()
			if h.left != nil {
				h.left(tr)
			}
		}
		server, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		h.Server = server
		l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		web := &http.Server{Handler: server}
		go web.Serve(l)
		transport := &http.Transport{DialContext: l.dial}
		h.client = &http.Client{Transport: transport}
		f(h)
		server.Close()
		web.Close()
		transport.CloseIdleConnections()
	})
}

func (h *harness) trace(id string) steps.Trace {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.traces[id]
}

// pipes is a listener in memory.
type pipes struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{} }

// An event is the data of one server-sent event and when it was read.
type event struct {
	data string
	at   time.Time
}

func (h *harness) request(ctx context.Context, path, id, body string) *http.Request {
	h.t.Helper()
	r, err := http.NewRequestWithContext(ctx, "POST", "http://sim"+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	if id != "" {
		r.Header.Set("X-Request-Id", id)
	}
	return r
}

// stream sends a request and reads its answer as an orderly stream.
func (h *harness) stream(path, id, body string) []event {
	h.t.Helper()
	resp, err := h.client.Do(h.request(h.t.Context(), path, id, body))
	if err != nil {
		h.t.Error(err)
		return nil
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		all, _ := io.ReadAll(resp.Body)
		h.t.Errorf("status %d: %s", resp.StatusCode, all)
	}
	var events []event
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			events = append(events, event{data, time.Now()})
		}
	}
	return events
}

// send posts a body and returns the whole answer.
func (h *harness) send(path, body string) (int, string) {
	h.t.Helper()
	resp, err := h.client.Do(h.request(h.t.Context(), path, "", body))
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return resp.StatusCode, string(all)
}

func (h *harness) get(path string) string {
	h.t.Helper()
	resp, err := h.client.Get("http://sim" + path)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(all)
}

// promptOf is a prompt of n tokens.
func promptOf(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "tok%d ", i)
	}
	return strings.TrimSpace(b.String())
}

// completion is the body of a streamed completion that gives out tokens.
func completion(prompt, out int) string {
	return fmt.Sprintf(`{"prompt":%q,"max_tokens":%d,"ignore_eos":true,"stream":true}`, promptOf(prompt), out)
}

// tokenTimes is when the chunks that carry tokens came, counted from start.
func tokenTimes(start time.Time, events []event) []time.Duration {
	var times []time.Duration
	for _, e := range events {
		if strings.Contains(e.data, `"text":" tok`) || strings.Contains(e.data, `"content":"`) && !strings.Contains(e.data, `"role"`) {
			times = append(times, e.at.Sub(start))
		}
	}
	return times
}
