package loadgen

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/metrics"
)

// dialScript dials a server that reads requests and lets play answer each, until
// play says that the connection is to be closed.
func dialScript(play func(c net.Conn) (closing bool)) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			for r := bufio.NewReader(server); ; {
				req, err := http.ReadRequest(r)
				if err != nil {
					return
				}
				if _, err := io.Copy(io.Discard, req.Body); err != nil || play(server) {
					return
				}
			}
		}()
		return client, nil
	}
}

const (
	streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	streamEnd  = "0\r\n\r\n"
	aChunk     = `data: {"choices":[{"index":0,"text":"a","finish_reason":null}]}` + "\n\n"
	lastChunk  = `data: {"choices":[{"index":0,"text":"","finish_reason":"stop"}]}` + "\n\n"
	usageChunk = `data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}` + "\n\n"
	doneEvent  = "data: [DONE]\n\n"
)

// framed is body as one part of a chunked reply.
func framed(body string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(body), body) }

// whole is a complete reply.
func whole(head, body string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s", head, len(body), body)
}

func TestFailuresAreClassed(t *testing.T) {
	for _, test := range []struct {
		name, reply string
		class       metrics.Class
		message     string
	}{
		{"a good answer", streamHead + framed(aChunk+lastChunk+usageChunk+doneEvent) + streamEnd, metrics.OK, ""},
		{"no [DONE]", streamHead + framed(aChunk+lastChunk) + streamEnd, metrics.OK, ""},
		{"no finish reason", streamHead + framed(aChunk+doneEvent) + streamEnd, metrics.OK, ""},
		{"cut after [DONE]", streamHead + framed(aChunk+doneEvent), metrics.OK, ""},
		{"neither", streamHead + framed(aChunk) + streamEnd, metrics.Truncated, "the stream ended without a finish reason and without [DONE]"},
		{"clean end in an event", streamHead + framed(aChunk+aChunk[:20]) + streamEnd, metrics.Truncated, "the connection was cut in the middle of the answer: EOF"},
		{"cut in an event", streamHead + framed(aChunk+aChunk[:20]), metrics.Truncated, "the connection was cut in the middle of the answer: unexpected EOF"},
		{"cut after the finish reason", streamHead + framed(aChunk+lastChunk), metrics.Truncated, "the connection was cut in the middle of the answer: unexpected EOF"},
		{"cut without a chunk", streamHead, metrics.Truncated, "the connection was cut in the middle of the answer: unexpected EOF"},
		{"no reply", "", metrics.Truncated, "the connection was cut before the reply: EOF"},
		{"half a head", streamHead[:40], metrics.Truncated, "the connection was cut before the reply: net/http: HTTP/1.x transport connection broken: unexpected EOF"},
		{"no HTTP", "hello\r\n\r\n", metrics.Malformed, `net/http: HTTP/1.x transport connection broken: malformed HTTP response "hello"`},
		{"broken framing", streamHead + "xyz\r\n", metrics.Malformed, "the answer makes no sense: invalid byte in chunk length"},
		{"no JSON", streamHead + framed(aChunk+"data: oops\n\n"+doneEvent) + streamEnd, metrics.Malformed, `an event is not JSON: "oops"`},
		{"empty", streamHead + streamEnd, metrics.Empty, neverValid},
		{"[DONE] alone", streamHead + framed(doneEvent) + streamEnd, metrics.Empty, neverValid},
		{"usage alone", streamHead + framed(usageChunk+doneEvent) + streamEnd, metrics.Empty, neverValid},
		{"error in the stream", streamHead + framed(aChunk+`data: {"error":{"message":"boom","code":500}}`+"\n\n"+doneEvent) + streamEnd, metrics.InStream, "boom"},
		{"error as text", streamHead + framed(aChunk+`data: {"error":"boom"}`+"\n\n") + streamEnd, metrics.InStream, "boom"},
		{"vLLM's older error", streamHead + framed(`data: {"object":"error","message":"boom","type":"BadRequestError","code":400}`+"\n\n") + streamEnd, metrics.InStream, "boom"},
		{"error event", streamHead + framed(aChunk+"event: error\ndata: boom\n\n") + streamEnd, metrics.InStream, "boom"},
		{"error event without a message", streamHead + framed("data: {\"error\":{\"code\":7}}\n\n") + streamEnd, metrics.InStream, `{"code":7}`},
		{"error as a whole reply", whole("200 OK\r\nContent-Type: application/json", `{"error":{"message":"boom"}}`), metrics.InStream, "boom"},
		{"a page", whole("200 OK\r\nContent-Type: text/html; charset=utf-8", "<html><title>Log\n in</title><p>x"), metrics.Malformed, "the answer is text/html, not an event stream: Log in"},
		{"redirect", whole("307 Temporary Redirect\r\nLocation: http://other.test/v1", ""), metrics.Status, "307 Temporary Redirect (Location: http://other.test/v1; redirects are not followed)"},
		{"too many", whole("429 Too Many Requests\r\nRetry-After: 20", `{"error":{"message":"slow down"}}`), metrics.Status, "429 Too Many Requests: slow down (Retry-After: 20)"},
		{"FastAPI", whole("404 Not Found", `{"detail":"Not Found"}`), metrics.Status, "404 Not Found: Not Found"},
		{"pydantic", whole("422 Unprocessable Entity", `{"detail":[{"loc":["body","model"],"msg":"field required"},{"loc":["body",0],"msg":"bad"}]}`), metrics.Status, "422 Unprocessable Entity: body.model: field required; body.0: bad"},
		{"no body", whole("503 Service Unavailable", ""), metrics.Status, "503 Service Unavailable"},
		{"unheard-of status", whole("599 Odd", "why not"), metrics.Status, "599: why not"},
		{"long message", whole("400 Bad Request", strings.Repeat("é", 1000)), metrics.Status, "400 Bad Request: " + strings.Repeat("é", maxMessage/2) + "…"},
		{"cut in an error", "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 1000\r\n\r\nOut of", metrics.Status, "500 Internal Server Error: Out of"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, _ := ask(t, openAIAt(dialRaw([]byte(test.reply)), false))
			if got.Class != test.class || got.Error != test.message {
				t.Errorf("class %q, %q\nwant  %q, %q", got.Class, got.Error, test.class, test.message)
			}
		})
	}
}

func TestPartOfAnAnswerIsKept(t *testing.T) {
	reply := streamHead + framed(aChunk+aChunk+usageChunk[:30])
	got, rec := ask(t, openAIAt(dialRaw([]byte(reply)), false))
	if got.Class != metrics.Truncated || got.Chunks != 2 || rec.Text != "aa" || rec.Status != 200 {
		t.Errorf("read %+v", got)
	}
}

func TestTextIsKeptWhereItIsNeeded(t *testing.T) {
	for _, test := range []struct {
		usage, want string
		keep        bool
	}{{usageChunk, "", false}, {usageChunk, "aa", true}, {"", "aa", false}} {
		reply := streamHead + framed(aChunk+aChunk+lastChunk+test.usage+doneEvent) + streamEnd
		var rec metrics.Record
		o := openAIAt(dialRaw([]byte(reply)), false)
		for _, err := range o.Send(t.Context(), time.Now(), &Request{Body: []byte("{}"), KeepText: test.keep}, &rec) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if rec.Text != test.want {
			t.Errorf("with usage %q and KeepText %t: text %q, want %q", test.usage, test.keep, rec.Text, test.want)
		}
	}
}

func TestTokensSoFarNeedUsageWithEveryChunk(t *testing.T) {
	chunk := func(index int, text string, out int) string {
		return fmt.Sprintf(`data: {"choices":[{"index":%d,"text":%q}],"usage":{"prompt_tokens":3,"completion_tokens":%d}}`+"\n\n", index, text, out)
	}
	for _, test := range []struct {
		name, events string
		tokens       []int
		out          int
	}{
		{"continuous usage", chunk(0, "", 0) + chunk(0, "a", 1) + chunk(0, "bc", 3) + doneEvent, []int{0, 1, 3}, 3},
		{"in the last chunk alone", aChunk + aChunk + chunk(0, "", 2) + doneEvent, []int{0, 0, 0}, 2},
		{"several choices", chunk(0, "a", 1) + chunk(1, "b", 1) + chunk(0, "c", 2) + doneEvent, []int{1, 0, 0}, 3},
		{"usage alone overrules", chunk(0, "a", 1) + `data: {"choices":[],"usage":{"completion_tokens":9}}` + "\n\n" + doneEvent, []int{1}, 9},
		{"zeros", chunk(0, "a", 0) + usageChunk + chunk(0, "", 0) + doneEvent, []int{0, 0}, 2},
	} {
		var rec metrics.Record
		var tokens []int
		o := openAIAt(dialRaw([]byte(streamHead+framed(test.events)+streamEnd)), false)
		for c, err := range o.Send(t.Context(), time.Now(), &Request{Body: []byte("{}")}, &rec) {
			if err != nil {
				t.Fatal(err)
			}
			tokens = append(tokens, c.Tokens)
		}
		if !cmp.Equal(test.tokens, tokens) || rec.Out != test.out || rec.In != 3 {
			t.Errorf("%s: tokens %v, in %d, out %d; want %v, 3, %d", test.name, tokens, rec.In, rec.Out, test.tokens, test.out)
		}
	}
}

// week is longer than any server sleeps: a bubble must outlive its goroutines.
const week = 7 * 24 * time.Hour

// inTime runs one request in fake time against a server that plays script, and
// gives its record, the arrivals of its chunks and how it failed.
func inTime(t *testing.T, o *OpenAI, script func(say func(string))) (rec *metrics.Record, arrivals []time.Duration, failed *Failure) {
	t.Helper()
	epoch := time.Now()
	transport := Connections{Timeout: time.Minute, Dial: dialScript(func(c net.Conn) bool {
		script(func(s string) {
			if _, err := io.WriteString(c, s); err != nil {
				runtime.Goexit()
			}
		})
		return true
	})}.Transport()
	defer transport.CloseIdleConnections()
	o.URL, o.Transport = "http://server.test/v1", transport
	rec = &metrics.Record{}
	for c, err := range o.Send(t.Context(), epoch, &Request{Body: []byte("{}")}, rec) {
		if err != nil {
			failed, _ = errors.AsType[*Failure](err)
			continue
		}
		arrivals = append(arrivals, c.At.Sub(epoch))
	}
	rec.End = time.Since(epoch)
	time.Sleep(week)
	return rec, arrivals, failed
}

func TestTimesAreThoseOfTheWire(t *testing.T) {
	for _, chat := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			rec, arrivals, failed := inTime(t, &OpenAI{Chat: chat}, func(say func(string)) {
				time.Sleep(time.Second)
				say(streamHead)
				time.Sleep(time.Second)
				say(framed(aChunk + aChunk))
				time.Sleep(time.Second)
				say(framed(lastChunk[:20]))
				time.Sleep(time.Second)
				say(framed(lastChunk[20 : len(lastChunk)-1]))
				time.Sleep(time.Second)
				say(framed("\n"))
				time.Sleep(time.Second)
				say(framed(usageChunk))
				time.Sleep(time.Second)
				say(framed(doneEvent) + streamEnd)
			})
			if failed != nil {
				t.Fatal(failed)
			}
			if want := []time.Duration{2 * time.Second, 2 * time.Second, 4 * time.Second}; !cmp.Equal(want, arrivals) {
				t.Errorf("chunks at %v, want %v", arrivals, want)
			}
			last := 4 * time.Second
			if chat {
				last = 6 * time.Second
			}
			want := &metrics.Record{Attempts: 1, FirstByte: time.Second, Last: last, End: 7 * time.Second, Conn: metrics.Conn{New: true},
				SharedReads: 1, In: 3, Out: 2, Finish: "stop", Status: 200}
			if diff := cmp.Diff(want, rec, cmp.AllowUnexported(metrics.Stamps{})); diff != "" {
				t.Errorf("chat %t: record (-want +got):\n%s", chat, diff)
			}
		})
	}
}

func TestLimitsEndARequest(t *testing.T) {
	limits := Timeouts{FirstByte: 10 * time.Minute, Stall: 5 * time.Minute, Total: time.Hour}
	never := func() { time.Sleep(24 * time.Hour) }
	for _, test := range []struct {
		name   string
		limits Timeouts
		script func(say func(string))
		class  metrics.Class
		err    string
		end    time.Duration
	}{
		{"no head", limits, func(say func(string)) { never() },
			metrics.Timeout, "no first byte within 10m0s", 10 * time.Minute},
		{"a head alone", limits, func(say func(string)) { say(streamHead); never() },
			metrics.Timeout, "no first byte within 10m0s", 10 * time.Minute},
		{"stall", limits, func(say func(string)) {
			time.Sleep(9 * time.Minute)
			say(streamHead + framed(aChunk))
			time.Sleep(4 * time.Minute)
			say(framed(": ping\n\n"))
			never()
		}, metrics.Stall, "the stream stood still for 5m0s", 18 * time.Minute},
		{"total", limits, func(say func(string)) {
			for say(streamHead); ; time.Sleep(time.Minute) {
				say(framed(aChunk))
			}
		}, metrics.Timeout, "not finished within 1h0m0s", time.Hour},
		{"slow, but within the limits", limits, func(say func(string)) {
			say(streamHead)
			time.Sleep(599 * time.Second)
			for range 8 {
				say(framed(aChunk))
				time.Sleep(299 * time.Second)
			}
			say(framed(doneEvent) + streamEnd)
		}, metrics.OK, "", (599 + 8*299) * time.Second},
		{"a stall limit alone waits for the first byte", Timeouts{Stall: time.Minute}, func(say func(string)) {
			say(streamHead)
			time.Sleep(24 * time.Hour)
			say(framed(aChunk))
			never()
		}, metrics.Stall, "the stream stood still for 1m0s", 24*time.Hour + time.Minute},
		{"a first byte limit alone bears a stall", Timeouts{FirstByte: time.Minute}, func(say func(string)) {
			say(streamHead + framed(aChunk))
			time.Sleep(24 * time.Hour)
			say(framed(doneEvent) + streamEnd)
		}, metrics.OK, "", 24 * time.Hour},
		{"no limits", Timeouts{}, func(say func(string)) {
			time.Sleep(24 * time.Hour)
			say(streamHead + framed(aChunk))
			time.Sleep(24 * time.Hour)
			say(framed(doneEvent) + streamEnd)
		}, metrics.OK, "", 48 * time.Hour},
		{"no end after [DONE]", limits, func(say func(string)) { say(streamHead + framed(aChunk+doneEvent)); never() },
			metrics.OK, "", lingerTimeout},
		{"no end after an error", limits, func(say func(string)) { say(streamHead + framed(`data: {"error":"boom"}`+"\n\n")); never() },
			metrics.InStream, "boom", lingerTimeout},
		{"no end of a refusal", limits, func(say func(string)) {
			say("HTTP/1.1 500 Oh\r\nContent-Length: 100\r\n\r\nboom")
			never()
		}, metrics.Status, "500 Internal Server Error: boom", 5 * time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec, _, failed := inTime(t, &OpenAI{Timeouts: test.limits}, test.script)
				if failed == nil {
					failed = failure(metrics.OK, "")
				}
				if failed.Class != test.class || failed.Error() != test.err || rec.End != test.end {
					t.Errorf("class %q, %q at %v; want %q, %q at %v", failed.Class, failed, rec.End, test.class, test.err, test.end)
				}
			})
		})
	}
}

// failing sends one request in fake time over connections that dial makes.
func failing(ctx context.Context, url string, dial func(context.Context, string, string) (net.Conn, error)) (*Failure, *metrics.Record) {
	epoch := time.Now()
	transport := Connections{Timeout: time.Minute, Dial: dial}.Transport()
	defer transport.CloseIdleConnections()
	o := OpenAI{URL: url, Transport: transport}
	rec := &metrics.Record{}
	var failed *Failure
	for _, err := range o.Send(ctx, epoch, &Request{Body: []byte("{}")}, rec) {
		failed, _ = errors.AsType[*Failure](err)
	}
	rec.End = time.Since(epoch)
	time.Sleep(week)
	return failed, rec
}

func TestConnectingFails(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	silent := func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go io.Copy(io.Discard, server)
		return client, nil
	}
	for _, test := range []struct {
		name, url string
		dial      func(context.Context, string, string) (net.Conn, error)
		want      string
		end       time.Duration
	}{
		{"refused", "http://server.test", func(context.Context, string, string) (net.Conn, error) { return nil, refused },
			"dial tcp: connection refused", 0},
		{"no answer", "http://server.test", func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, "timed out: context deadline exceeded", time.Minute},
		{"no handshake", "https://server.test", silent, "timed out: net/http: TLS handshake timeout", time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				failed, rec := failing(t.Context(), test.url, test.dial)
				if failed == nil || failed.Class != metrics.Connect || failed.Error() != test.want || rec.End != test.end {
					t.Fatalf("%v at %v; want %q at %v", failed, rec.End, test.want, test.end)
				}
				if rec.Attempts != 0 || rec.Status != 0 || rec.Conn != (metrics.Conn{}) {
					t.Errorf("record %+v of a request that was never sent", rec)
				}
			})
		})
	}
}

func TestStoppingTheRunCancels(t *testing.T) {
	for _, reply := range []string{"", streamHead, streamHead + framed(aChunk)} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			failed, rec := failing(ctx, "http://server.test", dialScript(func(c net.Conn) bool {
				_, _ = io.WriteString(c, reply)
				time.Sleep(time.Hour)
				return true
			}))
			if failed == nil || failed.Class != metrics.Cancelled || rec.End != 5*time.Second {
				t.Errorf("after %q: %v at %v", reply, failed, rec.End)
			}
		})
	}
}

func TestARequestIsSentOnce(t *testing.T) {
	// The second request meets a connection that the server drops unread:
	// net/http would gladly send one again whose body it could have twice.
	synctest.Test(t, func(t *testing.T) {
		dials, requests := 0, 0
		dial := dialScript(func(c net.Conn) bool {
			if requests++; requests > 1 {
				return true
			}
			_, _ = io.WriteString(c, streamHead+framed(aChunk+doneEvent)+streamEnd)
			return false
		})
		transport := Connections{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials++
			return dial(ctx, network, addr)
		}}.Transport()
		defer transport.CloseIdleConnections()
		o := &OpenAI{URL: "http://server.test", Transport: transport, Header: http.Header{"Idempotency-Key": {"1"}}}
		if got, rec := ask(t, o); got.Class != metrics.OK || rec.Attempts != 1 || !rec.Conn.New {
			t.Fatalf("first request: %+v", got)
		}
		got, rec := ask(t, o)
		if got.Class != metrics.Truncated || rec.Attempts != 1 || rec.Conn.New || dials != 1 || requests != 2 {
			t.Errorf("%+v after %d dials, %d attempts and %d requests", got, dials, rec.Attempts, requests)
		}
	})
}

func TestIdleConnectionsAreDroppedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := Connections{Dial: dialScript(func(c net.Conn) bool {
			_, _ = io.WriteString(c, streamHead+framed(aChunk+doneEvent)+streamEnd)
			return false
		})}.Transport()
		defer transport.CloseIdleConnections()
		o := &OpenAI{URL: "http://server.test", Transport: transport}
		for _, step := range []struct {
			idle time.Duration
			new  bool
		}{{0, true}, {3 * time.Second, false}, {3 * time.Second, false}, {4500 * time.Millisecond, true}} {
			time.Sleep(step.idle)
			if _, rec := ask(t, o); rec.Conn.New != step.new {
				t.Errorf("after %v idle: new connection %t, want %t", step.idle, rec.Conn.New, step.new)
			}
		}
	})
}

func TestConnectingIsTimed(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, aChunk+doneEvent)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	verifying := &OpenAI{URL: server.URL, Transport: Connections{}.Transport()}
	if got, _ := ask(t, verifying); got.Class != metrics.Connect || !strings.Contains(got.Error, "certificate") {
		t.Errorf("with an unknown certificate: %+v", got)
	}
	transport := Connections{Insecure: true}.Transport()
	defer transport.CloseIdleConnections()
	insecure := &OpenAI{URL: server.URL, Transport: transport}
	if got, rec := ask(t, insecure); got.Class != metrics.OK || !rec.Conn.New || rec.Conn.Connect <= 0 || rec.Conn.TLS <= 0 || rec.Wrote <= 0 {
		t.Errorf("%+v by connection %+v", got, rec.Conn)
	}
	if _, rec := ask(t, insecure); rec.Conn != (metrics.Conn{}) {
		t.Errorf("the second request's connection is %+v", rec.Conn)
	}
}

func TestLeavingEarlyStopsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := Connections{Dial: dialScript(func(c net.Conn) bool {
			_, _ = io.WriteString(c, streamHead+framed(aChunk+aChunk))
			time.Sleep(time.Hour)
			return true
		})}.Transport()
		defer transport.CloseIdleConnections()
		o := &OpenAI{URL: "http://server.test", Transport: transport}
		rec := &metrics.Record{}
		for range o.Send(t.Context(), time.Now(), &Request{Body: []byte("{}")}, rec) {
			break
		}
		if rec.Text != "a" || rec.Status != 200 {
			t.Errorf("record %+v", rec)
		}
		time.Sleep(week)
	})
}
