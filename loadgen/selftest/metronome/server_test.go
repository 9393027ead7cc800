package metronome_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/internal/pipe"
	"github.com/servebench/servebench/loadgen/selftest/metronome"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/record"
)

// startServer serves on a port of this machine until the test ends or stop is called.
func startServer(t *testing.T, s *metronome.Server) (url string, stop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + listener.Addr().String(), serve(t, s, listener)
}

// serve serves until the test ends or stop is called, which waits for the end.
func serve(t *testing.T, s *metronome.Server, listener net.Listener) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, listener) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// A telling is one event as a client got it.
type telling struct {
	metronome.Truth
	at time.Time
}

// ask sends one request for n events.
func ask(t *testing.T, o *exchange.Endpoint, n int) (events []telling, rec *record.Record) {
	t.Helper()
	rec = new(record.Record)
	req := &engine.Request{Body: fmt.Appendf(nil, `{"prompt":"x","stream":true,"max_tokens":%d}`, n)}
	for chunk, err := range o.Send(t.Context(), time.Now(), req, rec) {
		if err != nil {
			t.Errorf("event %d: %v", len(events), err)
			break
		}
		truth, err := metronome.ParseTruth(chunk.Text)
		if err != nil {
			t.Error(err)
		}
		events = append(events, telling{truth, chunk.At})
	}
	return events, rec
}

func TestAMetronomeTellsWhenItWrote(t *testing.T) {
	for _, m := range []*metronome.Server{
		{ITL: time.Millisecond},
		{ITL: time.Millisecond, Aligned: true, TTFT: 3 * time.Millisecond},
	} {
		url, stop := startServer(t, m)
		connections := wire.Connections{}.Transport()
		defer connections.CloseIdleConnections()
		o := &exchange.Endpoint{Protocol: completions.Protocol, URL: url + "/v1/completions", Transport: connections}
		const n = 50
		for round := range 3 {
			events, rec := ask(t, o, n)
			if len(events) != n || rec.Tokens.In != 1 || rec.Tokens.Out != n || rec.Answer.Finish != "length" || rec.Result.Status != 200 {
				t.Fatalf("%d events, %d tokens in, %d out, finish %q, status %d", len(events), rec.Tokens.In, rec.Tokens.Out, rec.Answer.Finish, rec.Result.Status)
			}
			if rec.Conn.New != (round == 0) {
				t.Errorf("round %d: a new connection: %v", round, rec.Conn.New)
			}
			for i, e := range events {
				if at := e.at.UnixNano(); at < e.Written || e.Written < e.Arrived {
					t.Errorf("event %d came at %d, was written at %d, its request came at %d", i, at, e.Written, e.Arrived)
				}
				if e.Arrived != events[0].Arrived || i > 0 && e.Written < events[i-1].Written || (e.Delay == 0) != (i == 0) {
					t.Errorf("event %d, %+v, does not follow %+v", i, e.Truth, events[max(i, 1)-1].Truth)
				}
			}
		}
		stop()
		if got := m.Count(); got.Requests != 3 || got.Events != 3*n || got.Dropped != 0 {
			t.Errorf("counts %+v", got)
		}
	}
}

func TestAMetronomeKeepsTime(t *testing.T) {
	ms := func(n time.Duration) time.Duration { return n * time.Millisecond }
	for _, row := range []struct {
		name     string
		m        *metronome.Server
		idle     time.Duration // of the client before it reads at first
		sent     time.Duration
		gives    []time.Duration
		late     int64
		complete bool
	}{
		{"own pace", &metronome.Server{TTFT: ms(50), ITL: ms(20)}, 0, ms(7), []time.Duration{ms(57), ms(77), ms(97)}, 0, true},
		{"aligned", &metronome.Server{TTFT: ms(50), ITL: ms(20), Aligned: true}, 0, ms(7), []time.Duration{ms(60), ms(80), ms(100)}, 0, true},
		{"aligned and on the beat", &metronome.Server{ITL: ms(20), Aligned: true}, 0, ms(40), []time.Duration{ms(40), ms(60), ms(80)}, 0, true},
		{"held up for more than a beat", &metronome.Server{ITL: ms(3)}, ms(8), 0, []time.Duration{0, ms(9), ms(12)}, 1, true},
		{"held up for too long", &metronome.Server{ITL: ms(3)}, ms(11), 0, nil, 0, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				listener := pipe.Listen()
				serve(t, row.m, listener)
				slow := func(ctx context.Context, network, addr string) (net.Conn, error) {
					conn, err := listener.Dial(ctx, network, addr)
					return &dozing{Conn: conn, idle: row.idle}, err
				}
				transport := &http.Transport{DialContext: slow}
				defer transport.CloseIdleConnections()
				time.Sleep(row.sent)
				body := strings.NewReader(`{"max_tokens":3}`)
				reply, err := transport.RoundTrip(must(http.NewRequest("POST", "http://metronome", body)))
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(reply.Body)
				reply.Body.Close()
				if (err == nil) != row.complete {
					t.Errorf("the stream ended with %v", err)
				}
				var got []time.Duration
				for _, line := range strings.Split(string(text), "\n") {
					if _, after, ok := strings.Cut(line, `"text":"`); ok {
						truth, err := metronome.ParseTruth([]byte(after[:strings.IndexByte(after, '"')]))
						if err != nil {
							t.Error(err)
						}
						got = append(got, time.Unix(0, truth.Written).Sub(start))
					}
				}
				if count := row.m.Count(); !slices.Equal(got, row.gives) || count.Late != row.late || (count.Dropped == 0) != row.complete {
					t.Errorf("written at %v, want %v; counts %+v", got, row.gives, count)
				}
			})
		})
	}
}

// A dozing connection waits a while after its first Read, which takes the
// reply's head.
type dozing struct {
	net.Conn
	idle  time.Duration
	reads int
}

func (d *dozing) Read(p []byte) (int, error) {
	if d.reads++; d.reads == 2 {
		time.Sleep(d.idle)
	}
	return d.Conn.Read(p)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestAStalledReaderIsDroppedAndHoldsNobodyUp(t *testing.T) {
	m := &metronome.Server{ITL: 10 * time.Microsecond}
	url, _ := startServer(t, m)
	stalled, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer stalled.Close()
	body := `{"max_tokens":1000000000}`
	fmt.Fprintf(stalled, "POST / HTTP/1.1\r\nHost: metronome\r\nContent-Length: %d\r\n\r\n%s", len(body), body)

	o := &exchange.Endpoint{Protocol: completions.Protocol, URL: url, Transport: wire.Connections{}.Transport()}
	for m.Count().Dropped == 0 && !t.Failed() {
		if events, rec := ask(t, o, 100); len(events) != 100 || rec.Tokens.Out != 100 {
			t.Errorf("%d events, %d tokens", len(events), rec.Tokens.Out)
		}
	}
	if _, err := io.Copy(io.Discard, stalled); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("the dropped stream ended with %v", err)
	}
	if events, _ := ask(t, o, 10); len(events) != 10 {
		t.Errorf("%d events after the drop", len(events))
	}
}

func TestAMetronomeRefusesWhatItCannotAnswer(t *testing.T) {
	url, _ := startServer(t, new(metronome.Server))
	for _, body := range []string{"", "oops", "{}", `{"max_tokens":0}`} {
		reply, err := http.Post(url, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(reply.Body)
		reply.Body.Close()
		if err != nil || reply.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "max_tokens") {
			t.Errorf("%q: status %d, %s, %v", body, reply.StatusCode, text, err)
		}
	}
}

func TestTheEndOfAMetronomeCutsItsStreams(t *testing.T) {
	url, stop := startServer(t, &metronome.Server{ITL: time.Hour})
	reply, err := http.Post(url, "application/json", strings.NewReader(`{"max_tokens":5}`))
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	stop()
	if _, err := io.ReadAll(reply.Body); err == nil {
		t.Error("a stream in flight ended as if it were complete")
	}
	if _, err := http.Post(url, "application/json", strings.NewReader(`{"max_tokens":5}`)); err == nil {
		t.Error("still serving")
	}
}

func TestNoTruthIsMadeUp(t *testing.T) {
	want := metronome.Truth{Written: 1795176277123456789, Arrived: 1795176277000000000, Delay: 4500}
	if got, err := metronome.ParseTruth([]byte("1795176277123456789 1795176277000000000 4500")); got != want || err != nil {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, text := range []string{"", " tok7", "1 2", "1 2 3 4", "1 2 x", "9999999999999999999 1 1"} {
		if truth, err := metronome.ParseTruth([]byte(text)); err == nil {
			t.Errorf("%q gives %+v", text, truth)
		}
	}
}
