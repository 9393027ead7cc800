package exchange_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen/openai"

	"github.com/servebench/servebench/loadgen/api/chat"
	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
	"github.com/servebench/servebench/metrics/record"
)

// oneChunk is a whole answer.
var oneChunk = streamHead + wiretest.Framed(aChunk+doneEvent) + streamEnd

// scripted makes connections of which each answers its requests by a script of its
// own, each a second late, and hangs up on the request after that, unread, and after
// an answer that is cut. Beyond the scripts nobody listens. It counts connections
// and requests.
func scripted(dials, requests *int, scripts ...[]string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if *dials == len(scripts) {
			return nil, errors.New("nobody listens")
		}
		script := scripts[*dials]
		*dials++
		return wiretest.DialScript(func(c net.Conn) bool {
			*requests++
			if len(script) == 0 {
				return true
			}
			time.Sleep(time.Second)
			answer := script[0]
			script = script[1:]
			_, _ = io.WriteString(c, answer)
			return !strings.HasSuffix(answer, streamEnd)
		})(ctx, network, addr)
	}
}

func TestARequestIsSentAnewOnceIfItsUsedConnectionDies(t *testing.T) {
	const cut = "the connection was cut before the reply: EOF"
	for _, test := range []struct {
		name            string
		scripts         [][]string
		limits          wire.Timeouts
		class           record.Class
		message         string
		attempts, anew  int // of the second request
		dials, requests int
		end             time.Duration // of the second request, from when it was first sent
	}{
		{"it lives", [][]string{{oneChunk, oneChunk}}, wire.Timeouts{}, record.OK, "", 1, 0, 1, 2, time.Second},
		{"it dies", [][]string{{oneChunk}, {oneChunk}}, wire.Timeouts{}, record.OK, "", 2, 1, 2, 3, time.Second},
		{"it dies late", [][]string{{oneChunk, ""}, {oneChunk}}, wire.Timeouts{}, record.OK, "", 2, 1, 2, 3, 2 * time.Second},
		{"the new one dies, too", [][]string{{oneChunk}, {}, {oneChunk}}, wire.Timeouts{}, record.Truncated, cut, 2, 1, 2, 3, 0},
		{"there is no new one", [][]string{{oneChunk}}, wire.Timeouts{}, record.Truncated, cut + ", and no new one could be opened: nobody listens", 1, 0, 1, 2, 0},
		{"a byte came", [][]string{{oneChunk, "H"}, {oneChunk}}, wire.Timeouts{}, record.Malformed, `malformed HTTP response "H"`, 1, 0, 1, 2, time.Second},
		{"a word came", [][]string{{oneChunk, "HTTP/1.1 100 Continue\r\n\r\n"}, {oneChunk}}, wire.Timeouts{}, record.Truncated, "the connection was cut before the reply: unexpected EOF", 1, 0, 1, 2, time.Second},
		{"a head came", [][]string{{oneChunk, streamHead}, {oneChunk}}, wire.Timeouts{}, record.Truncated, "the connection was cut in the middle of the answer: unexpected EOF", 1, 0, 1, 2, time.Second},
		{"a limit strikes", [][]string{{oneChunk, ""}, {oneChunk}}, wire.Timeouts{FirstByte: time.Second / 2}, record.FirstByte, "no first byte within 500ms", 1, 0, 1, 2, time.Second / 2},
		{"a limit strikes on the new one", [][]string{{oneChunk, ""}, {oneChunk}}, wire.Timeouts{FirstByte: 1500 * time.Millisecond}, record.FirstByte, "no first byte within 1.5s", 2, 1, 2, 3, 1500 * time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dials, requests := 0, 0
				transport := wire.Connections{NetHTTP: netHTTP, Dial: scripted(&dials, &requests, test.scripts...)}.Transport()
				// An idempotent request net/http would send again by itself.
				o := &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test", Transport: transport, Header: http.Header{"Idempotency-Key": {"1"}}}
				if got, rec := ask(t, o); got.Class != record.OK || rec.Attempts != 1 || rec.Reconnects != 0 || !rec.Conn.New {
					t.Fatalf("first request: %+v", got)
				}
				began := time.Now()
				got, rec := ask(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: o.URL, Transport: transport, Header: o.Header, Timeouts: test.limits})
				synctest.Wait() // for what the server counts
				if got.Class != test.class || got.Error != test.message || rec.Attempts != test.attempts || rec.Reconnects != test.anew || time.Since(began) != test.end {
					t.Errorf("%+v after %v in %d attempts, %d of them anew", got, time.Since(began), rec.Attempts, rec.Reconnects)
				}
				if dials != test.dials || requests != test.requests || rec.Conn.New != (test.anew > 0) {
					t.Errorf("%d connections and %d requests, %+v", dials, requests, rec.Conn)
				}
				transport.CloseIdleConnections()
				time.Sleep(week)
			})
		})
	}
}

func TestARequestOnANewConnectionIsSentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dials, requests := 0, 0
		o := &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test", Transport: wire.Connections{NetHTTP: netHTTP, Dial: scripted(&dials, &requests, nil, []string{oneChunk})}.Transport()}
		got, rec := ask(t, o)
		synctest.Wait()
		if got.Class != record.Truncated || rec.Attempts != 1 || rec.Reconnects != 0 || dials != 1 || requests != 1 {
			t.Errorf("%+v in %d attempts, %d connections and %d requests", got, rec.Attempts, dials, requests)
		}
	})
}

func TestAStoppedRequestIsNotSentAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dials, requests := 0, 0
		transport := wire.Connections{NetHTTP: netHTTP, Dial: scripted(&dials, &requests, []string{oneChunk, oneChunk}, []string{oneChunk})}.Transport()
		o := &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test", Transport: transport}
		ask(t, o)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		rec := new(record.Record)
		for _, err := range o.Send(ctx, time.Now(), &engine.Request{Body: []byte("{}")}, rec) {
			if f, _ := errors.AsType[*record.Failure](err); f == nil || f.Class != record.Cancelled {
				t.Error(err)
			}
		}
		time.Sleep(week)
		synctest.Wait()
		if rec.Attempts != 1 || dials != 1 || requests != 2 {
			t.Errorf("%d attempts, %d connections and %d requests", rec.Attempts, dials, requests)
		}
	})
}

// What is sent anew is no retry: there may be as many of those after it, or none.
func TestRetriesCountWithoutWhatIsSentAnew(t *testing.T) {
	for retries, want := range map[int]record.Record{
		0: {Result: record.Result{Class: record.Truncated}, Attempts: 2, Reconnects: 1, Times: record.Times{Sent: time.Second, End: time.Second}},
		1: {Attempts: 3, Reconnects: 1, Times: record.Times{Sent: time.Second, End: 2100 * time.Millisecond}},
	} {
		synctest.Test(t, func(t *testing.T) {
			dials, requests := 0, 0
			transport := wire.Connections{NetHTTP: netHTTP, Dial: scripted(&dials, &requests, []string{oneChunk}, nil, []string{oneChunk})}.Transport()
			o := &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test", Transport: transport}
			rec := recorded(t, asked(2, engine.Target{Send: o.Send, Retry: engine.Retry{Times: retries}}))[1]
			if rec.Result.Class != want.Result.Class || rec.Attempts != want.Attempts || rec.Reconnects != want.Reconnects || rec.Times.Sent != want.Times.Sent || rec.Times.End != want.Times.End {
				t.Errorf("with %d retries: %+v", retries, rec)
			}
			transport.CloseIdleConnections()
			time.Sleep(week)
		})
	}
}

func TestACallIsMadeAnewToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dials, requests := 0, 0
		transport := wire.Connections{NetHTTP: netHTTP, Dial: scripted(&dials, &requests, []string{oneChunk}, []string{oneChunk})}.Transport()
		s := &openai.Server{URL: "http://server.test", Transport: transport}
		_, got := s.Metrics(t.Context())
		posted := s.ResetPrefixCache(t.Context())
		synctest.Wait()
		if got != nil || posted != nil || dials != 2 || requests != 3 {
			t.Errorf("%v, %v, %d connections and %d requests", got, posted, dials, requests)
		}
		transport.CloseIdleConnections()
		time.Sleep(week)
	})
}

// The server of llama.cpp closes a connection right after a streamed answer, which
// says that it may be kept for five seconds. It closes here when the next request has
// come already, which is when a client cannot know.
func TestConnectionsThatAServerClosesAfterAnswersAreNotUsedAgain(t *testing.T) {
	answer := string(transcript(t, "llamacpp-completions-usage"))
	const n = 10
	for name, c := range map[string]struct {
		before       []string // what the first connection answers before a stream
		idle         time.Duration
		anew, opened int // at concurrency 1
		dropped      int64
	}{
		"at once":              {nil, 0, 1, n, n - 1},
		"after shorter calls":  {[]string{oneChunk, oneChunk}, 0, 2, n, n - 2},
		"long after an answer": {nil, time.Second/2 + 1, n - 1, n, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dials := 0
				dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
					script := []string{answer}
					if dials++; dials == 1 {
						script = append(slices.Clone(c.before), answer)
					}
					return wiretest.DialScript(func(conn net.Conn) bool {
						if len(script) == 0 {
							return true
						}
						_, _ = io.WriteString(conn, script[0])
						script = script[1:]
						return false
					})(ctx, network, addr)
				}
				tally := new(wire.Tally)
				transport := wire.Connections{NetHTTP: netHTTP, Dial: dial, Tally: tally}.Transport()
				o := &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test", Transport: transport, Tally: tally}
				anew := 0
				for i := range len(c.before) + n {
					got, rec := ask(t, o)
					if got.Class != record.OK {
						t.Errorf("request %d: %+v", i, got)
					}
					anew += rec.Reconnects
					time.Sleep(c.idle)
				}
				if e := reported(tally); anew != c.anew || dials != c.opened || e.Connections.Opened != int64(c.opened) || e.Connections.Dropped != c.dropped {
					t.Errorf("%d sent anew, %d connections, %+v", anew, dials, e)
				}
				transport.CloseIdleConnections()
				time.Sleep(week)
			})
		})
	}
}

// The same over sockets, where it is luck whether the closing is seen in time.
func TestNoRequestIsLostToAServerThatClosesAfterAnswers(t *testing.T) {
	answer := transcript(t, "llamacpp-chat-usage")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var answered atomic.Int32
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				r, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				answered.Add(1)
				_, _ = conn.Write(answer)
			}()
		}
	}()
	defer listener.Close()
	tally := new(wire.Tally)
	transport := wire.Connections{NetHTTP: netHTTP, Tally: tally}.Transport()
	defer transport.CloseIdleConnections()
	o := &exchange.Endpoint{URL: "http://" + listener.Addr().String(), Protocol: chat.Protocol, Transport: transport, Tally: tally}
	const workers, each = 4, 40
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for range each {
				if got, rec := ask(t, o); got.Class != record.OK {
					t.Errorf("%+v in %d attempts", got, rec.Attempts)
				}
			}
		})
	}
	group.Wait()
	if e := reported(tally); answered.Load() != workers*each || e.Connections.Opened != workers*each {
		t.Errorf("%d answers over %d connections", answered.Load(), e.Connections.Opened)
	}
}
