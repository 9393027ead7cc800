package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A network carries connections within a bubble of fake time.
type network chan net.Conn

func (n network) Accept() (net.Conn, error) {
	if c, ok := <-n; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (n network) Close() error   { close(n); return nil }
func (n network) Addr() net.Addr { return &net.TCPAddr{} }

func (n network) transport() *http.Transport {
	return &http.Transport{DisableCompression: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		n <- far
		return near, nil
	}}
}

// tokens answers with a head at once, and then a token at each of these times.
func tokens(at ...time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		io.Copy(io.Discard, r.Body)
		w.(http.Flusher).Flush()
		for _, d := range at {
			time.Sleep(time.Until(began.Add(d)))
			io.WriteString(w, "token\n")
			w.(http.Flusher).Flush()
		}
	}
}

// through sends a request through a proxy with this slowdown. It returns when each piece of the answer came,
// and what the proxy noted.
func through(t *testing.T, method string, slow slowdown, h http.Handler) (came []time.Duration, noted string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		front, back := make(network), make(network)
		var log bytes.Buffer
		p := &proxy{to: &url.URL{Scheme: "http", Host: "server"}, slow: slow, wait: func(until time.Time) { time.Sleep(time.Until(until)) },
			transport: back.transport(), log: &log}
		servers := []*http.Server{{Handler: h}, {Handler: p.handler()}}
		go servers[0].Serve(back)
		go servers[1].Serve(front)
		client := front.transport()
		r, err := http.NewRequest(method, "http://proxy/v1/completions", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Request-Id", "bench-1")
		began := time.Now()
		resp, err := client.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		buffer := make([]byte, 1<<10)
		for {
			n, err := resp.Body.Read(buffer)
			if n > 0 {
				came = append(came, time.Since(began))
			}
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		client.CloseIdleConnections()
		p.transport.(*http.Transport).CloseIdleConnections()
		for _, s := range servers {
			s.Close()
		}
		synctest.Wait()
		noted = log.String()
	})
	return came, noted
}

func TestAnswersStretch(t *testing.T) {
	ms := time.Millisecond
	server := tokens(100*ms, 120*ms, 140*ms, 200*ms)
	for _, c := range []struct {
		method string
		slow   slowdown
		want   []time.Duration
	}{
		{"POST", slowdown{}, []time.Duration{100 * ms, 120 * ms, 140 * ms, 200 * ms}},
		{"POST", slowdown{share: 0.1}, []time.Duration{110 * ms, 132 * ms, 154 * ms, 220 * ms}},
		{"POST", slowdown{delay: 5 * ms}, []time.Duration{105 * ms, 125 * ms, 145 * ms, 205 * ms}},
		{"POST", slowdown{0.5, 5 * ms}, []time.Duration{155 * ms, 185 * ms, 215 * ms, 305 * ms}},
		{"PUT", slowdown{share: 0.1}, []time.Duration{100 * ms, 120 * ms, 140 * ms, 200 * ms}},
	} {
		came, _ := through(t, c.method, c.slow, server)
		if len(came) != len(c.want) {
			t.Errorf("%s %v: %v, want %v", c.method, c.slow, came, c.want)
			continue
		}
		for i := range came {
			if came[i] != c.want[i] {
				t.Errorf("%s %v: %v, want %v", c.method, c.slow, came, c.want)
				break
			}
		}
	}
}

func TestStampsAreOfBothWays(t *testing.T) {
	ms := time.Millisecond
	server := func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(30 * ms)
		tokens(100*ms, 200*ms)(w, r)
	}
	_, noted := through(t, "POST", slowdown{share: 0.1, delay: 7 * ms}, http.HandlerFunc(server))
	var got entry
	if err := json.Unmarshal([]byte(noted), &got); err != nil || strings.Count(noted, "\n") != 1 {
		t.Fatalf("%q: %v", noted, err)
	}
	type stamps struct{ head, first, last, firstOut, lastOut float64 }
	if s, want := (stamps{got.Head, got.First, got.Last, got.FirstOut, got.LastOut}), (stamps{30, 130, 230, 150, 260}); s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
	if got.ID != "bench-1" || got.Path != "/v1/completions" || got.Status != 200 || got.Bytes != 12 || got.Received.IsZero() {
		t.Error(noted)
	}
}

func TestDeadServerIsBadGateway(t *testing.T) {
	if _, noted := through(t, "POST", slowdown{}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })); strings.Contains(noted, `"status"`) {
		t.Error(noted)
	}
}

func TestProxyEndsWithItsCommand(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := serve(t.Context(), l, http.NotFoundHandler(), []string{os.Args[0], "-test.list=^$"}); err == nil || !strings.Contains(err.Error(), "ended") {
		t.Error(err)
	}
}

func TestShares(t *testing.T) {
	for text, want := range map[string]float64{"10%": 0.1, "0.05": 0.05, "0": 0} {
		if got, err := percent(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "ten", "-1%", "NaN", "10 ms"} {
		if _, err := percent(text); err == nil {
			t.Errorf("%q is a share", text)
		}
	}
}

// A server may close a connection just as the next request comes. The request goes to it again.
func TestClosedConnectionsAreReplaced(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for first := true; ; first = false {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			requests := bufio.NewReader(conn)
			for answered := false; ; answered = true {
				r, err := http.ReadRequest(requests)
				if err != nil {
					break
				}
				body, _ := io.ReadAll(r.Body)
				if first && answered {
					break
				}
				fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
			}
			conn.Close()
		}
	}()
	p := &proxy{to: &url.URL{Scheme: "http", Host: l.Addr().String()}, wait: sleepUntil, transport: &http.Transport{}}
	for range 2 {
		answer := httptest.NewRecorder()
		p.handler().ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/", strings.NewReader("prompt")))
		if answer.Code != http.StatusOK || answer.Body.String() != "prompt" {
			t.Errorf("%d: %s", answer.Code, answer.Body)
		}
	}
}
