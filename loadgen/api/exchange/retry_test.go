package exchange_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
	"github.com/servebench/servebench/metrics/record"
)

// replayed is a load of one request to a server that gives a reply after the other,
// the last again and again, and then drops the connection. At first dials fail.
func replayed(retry engine.Retry, replies []string, dials ...error) engine.Load {
	n, dialled := 0, 0
	server := wiretest.DialScript(func(c net.Conn) bool {
		reply := replies[min(n, len(replies)-1)]
		n++
		_, _ = io.WriteString(c, reply)
		return true
	})
	transport := wire.Connections{NetHTTP: netHTTP, Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		if dialled++; dialled <= len(dials) {
			return nil, dials[dialled-1]
		}
		return server(ctx, network, addr)
	}}.Transport()
	o := &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test", Transport: transport}
	return asked(1, engine.Target{Send: o.Send, Retry: retry})
}

func TestWhatMayPassIsSentAgain(t *testing.T) {
	good := streamHead + wiretest.Framed(aChunk+doneEvent) + streamEnd
	busy := wiretest.Whole("503 Service Unavailable", "")
	wait := func(after string) string { return wiretest.Whole("429 Too Many Requests\r\nRetry-After: "+after, "") }
	millis := func(after string) string {
		return wiretest.Whole("429 Too Many Requests\r\nretry-after-ms: "+after, "")
	}
	// The clock of a bubble starts at midnight UTC, 2000-01-01.
	const date = "Sat, 01 Jan 2000 00:00:30 GMT"
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for _, test := range []struct {
		name     string
		times    int
		replies  []string
		dials    []error
		class    record.Class
		attempts int
		end      time.Duration
	}{
		{"not asked for", 0, []string{busy, good}, nil, record.Status, 1, 0},
		{"no need", 3, []string{good}, nil, record.OK, 1, 0},
		{"busy twice", 3, []string{busy, busy, good}, nil, record.OK, 3, 300 * time.Millisecond},
		{"busy for good", 3, []string{busy}, nil, record.Status, 4, 700 * time.Millisecond},
		{"busy for long", 9, []string{busy}, nil, record.Status, 10, 21300 * time.Millisecond},
		{"500", 1, []string{wiretest.Whole("500 Oh", ""), good}, nil, record.OK, 2, 100 * time.Millisecond},
		{"502", 1, []string{wiretest.Whole("502 Oh", ""), good}, nil, record.OK, 2, 100 * time.Millisecond},
		{"504", 1, []string{wiretest.Whole("504 Oh", ""), good}, nil, record.OK, 2, 100 * time.Millisecond},
		{"wait some seconds", 3, []string{wait("20"), good}, nil, record.OK, 2, 20 * time.Second},
		{"wait until then", 3, []string{wait(date), good}, nil, record.OK, 2, 30 * time.Second},
		{"wait for too long", 3, []string{wait("86400"), good}, nil, record.OK, 2, time.Minute},
		{"wait in other words", 3, []string{wait("soon"), good}, nil, record.OK, 2, 100 * time.Millisecond},
		{"wait until before", 3, []string{wait("Fri, 31 Dec 1999 00:00:30 GMT"), good}, nil, record.OK, 2, 100 * time.Millisecond},
		{"wait until never", 3, []string{wait("Fri, 31 Dec 2100 00:00:30 GMT"), good}, nil, record.OK, 2, 100 * time.Millisecond},
		{"wait a part of a second", 3, []string{wait("0.7"), good}, nil, record.OK, 2, 700 * time.Millisecond},
		{"wait some seconds and a half", 3, []string{wait("2.5"), good}, nil, record.OK, 2, 2500 * time.Millisecond},
		{"wait milliseconds", 3, []string{millis("700"), good}, nil, record.OK, 2, 700 * time.Millisecond},
		{"wait a part of a millisecond", 3, []string{millis("0.5"), good}, nil, record.OK, 2, 500 * time.Microsecond},
		{"milliseconds come first", 3, []string{millis("700\r\nRetry-After: 5"), good}, nil, record.OK, 2, 700 * time.Millisecond},
		{"also after", 3, []string{wait("5\r\nRetry-After-Ms: 700"), good}, nil, record.OK, 2, 700 * time.Millisecond},
		{"wrong milliseconds", 3, []string{millis("NaN\r\nRetry-After: 5"), good}, nil, record.OK, 2, 5 * time.Second},
		{"too many milliseconds", 3, []string{millis("70000"), good}, nil, record.OK, 2, time.Minute},
		{"wait minus one", 3, []string{wait("-1"), good}, nil, record.OK, 2, 100 * time.Millisecond},
		{"minus milliseconds", 3, []string{millis("-700"), good}, nil, record.OK, 2, 100 * time.Millisecond},
		{"not a number", 3, []string{wait("NaN"), good}, nil, record.OK, 2, 100 * time.Millisecond},
		{"wait forever", 3, []string{wait("Infinity"), good}, nil, record.OK, 2, 100 * time.Millisecond},
		{"wait for years", 3, []string{wait("99999999999999999999"), good}, nil, record.OK, 2, 100 * time.Millisecond},
		{"wait for eternities", 3, []string{millis("1e300"), good}, nil, record.OK, 2, 100 * time.Millisecond},
		{"hung up", 3, []string{"", good}, nil, record.OK, 2, 100 * time.Millisecond},
		{"hung up after the head", 3, []string{streamHead, good}, nil, record.OK, 2, 100 * time.Millisecond},
		{"an empty stream", 3, []string{streamHead + streamEnd, good}, nil, record.OK, 2, 100 * time.Millisecond},
		{"nobody there at first", 3, []string{good}, []error{refused, refused}, record.OK, 3, 300 * time.Millisecond},
		{"no such name", 1, []string{good}, []error{&net.DNSError{Err: "no such host", Name: "server.test"}}, record.OK, 2, 100 * time.Millisecond},
		{"no way", 1, []string{good}, []error{syscall.EHOSTUNREACH}, record.OK, 2, 100 * time.Millisecond},
		{"reset", 1, []string{good}, []error{record.Failf(record.Reset, "reset")}, record.OK, 2, 100 * time.Millisecond},
		{"too late", 1, []string{good}, []error{record.Failf(record.ConnectTimeout, "late")}, record.OK, 2, 100 * time.Millisecond},
		{"no trust", 3, []string{good}, []error{record.Failf(record.TLS, "who are you?")}, record.TLS, 0, 0},
		{"no answer in time", 3, []string{good}, []error{record.Failf(record.FirstByte, "late")}, record.FirstByte, 0, 0},
		{"cut after a chunk", 3, []string{streamHead + wiretest.Framed(aChunk), good}, nil, record.Truncated, 1, 0},
		{"an error in the stream", 3, []string{streamHead + wiretest.Framed(`data: {"error":"boom"}`+"\n\n") + streamEnd, good}, nil, record.InStream, 1, 0},
		{"no such model", 3, []string{wiretest.Whole("404 Not Found", ""), good}, nil, record.Status, 1, 0},
		{"no HTTP", 3, []string{"hello\r\n\r\n", good}, nil, record.Malformed, 1, 0},
		{"cut before a chunk", 3, []string{streamHead + wiretest.Framed(": x\n\n"), good}, nil, record.OK, 2, 100 * time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				load := replayed(engine.Retry{Times: test.times}, test.replies, test.dials...)
				rec := recorded(t, load)[0]
				if rec.Result.Class != test.class || rec.Attempts != test.attempts || rec.Times.End != test.end || rec.Times.Sent != 0 {
					t.Errorf("%s, %d attempts from %v to %v; want %s, %d to %v", rec.Result.Class, rec.Attempts, rec.Times.Sent, rec.Times.End, test.class, test.attempts, test.end)
				}
				if rec.Result.Class == record.OK && (rec.Result.Status != 200 || rec.Result.Error != "" || rec.TTFT() != test.end || rec.Times.FirstByte != test.end || rec.Answer.Chunks.Len() != 1) {
					t.Errorf("record %+v is not of the last attempt, timed from the first", rec)
				}
				if live := load.Live.Now(); live.Sent != 1 || live.Ended != 1 || live.InFlight() != 0 {
					t.Errorf("live count %+v of one request", live)
				}
			})
		})
	}
}

// Servers and proxies log by the id of a request, and some answer an id only once.
func TestEachAttemptHasAnID(t *testing.T) {
	for _, streams := range []bool{true, false} {
		var ids, traces, bodies []string
		o := &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test/v1", OneJSON: !streams, Traced: true, Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			body, _ := io.ReadAll(r.Body)
			ids, traces, bodies = append(ids, r.Header.Get("X-Request-Id")), append(traces, r.Header.Get("Traceparent")[:35]), append(bodies, string(body))
			return &http.Response{StatusCode: 503, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
		})}
		synctest.Test(t, func(t *testing.T) {
			load := asked(1, engine.Target{Send: o.Send, Retry: engine.Retry{Times: 2}})
			load.Target.Encode = func(*dataset.Conversation, int, []json.RawMessage) (*engine.Request, error) {
				return &engine.Request{ID: "bench-7", Body: []byte("{}")}, nil
			}
			if rec := recorded(t, load)[0]; rec.ID != "bench-7" {
				t.Errorf("the record's id is %q", rec.ID)
			}
		})
		if want := []string{"bench-7", "bench-7-a2", "bench-7-a3"}; !slices.Equal(ids, want) {
			t.Errorf("ids %q, want %q", ids, want)
		}
		if traces = slices.Compact(traces); len(traces) != 1 || !slices.Equal(bodies, []string{"{}", "{}", "{}"}) {
			t.Errorf("traces %q, bodies %q", traces, bodies)
		}
	}
}

func TestARetryEndsWithItsRequest(t *testing.T) {
	busy := wiretest.Whole("503 Service Unavailable\r\nRetry-After: 10", "")
	const waits = ", in a pause after: 503 Service Unavailable (Retry-After: 10)"
	for _, test := range []struct {
		name    string
		set     func(r *engine.Run, l *engine.Load)
		stopped time.Duration
		class   record.Class
		message string
		end     time.Duration
	}{
		{"total", func(r *engine.Run, l *engine.Load) { l.Target.Retry.Total = 15 * time.Second }, 0,
			record.Timeout, "not finished within 15s" + waits, 15 * time.Second},
		{"after the last send", func(r *engine.Run, l *engine.Load) { l.DrainLimit = 15 * time.Second }, 0,
			record.Overdue, "not finished 15s after the last request was sent" + waits, 15 * time.Second},
		{"deadline", func(r *engine.Run, l *engine.Load) { r.Deadline = 15 * time.Second }, 0,
			record.Deadline, "cut at the run's deadline of 15s" + waits, 15 * time.Second},
		{"interrupt", func(r *engine.Run, l *engine.Load) { r.Drain = time.Hour }, 15 * time.Second,
			record.Status, "503 Service Unavailable (Retry-After: 10)", 15 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &engine.Run{Wait: engine.Sleep, Loads: []engine.Load{replayed(engine.Retry{Times: 9}, []string{busy})}}
				test.set(r, &r.Loads[0])
				ctx := t.Context()
				if test.stopped > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.stopped)
					defer cancel()
				}
				for rec, err := range r.Records(ctx) {
					if f, cut := errors.AsType[*record.Failure](err); cut && f.Class == test.class {
						continue // the deadline's, which comes last
					}
					if err != nil || rec.Result.Class != test.class || rec.Result.Error != test.message || rec.Times.End != test.end || rec.Attempts != 2 {
						t.Errorf("%+v, %v; want %s, %q at %v", rec, err, test.class, test.message, test.end)
					}
				}
			})
		})
	}
}

func TestWhatIsNoLoadIsSentOnce(t *testing.T) {
	load := replayed(engine.Retry{Times: 9}, []string{wiretest.Whole("503 Service Unavailable", "")})
	if rec := load.Target.Once(t.Context(), &engine.Request{Body: []byte("{}")}); rec.Result.Status != http.StatusServiceUnavailable || rec.Attempts != 1 {
		t.Errorf("%+v", rec)
	}
}
