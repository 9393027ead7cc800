package exchange_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/record"
)

// refusals are the ways in which a server says that it did not process the request of a stream.
var refusals = map[string]func(stream uint32) (frames string, hangUp bool){
	"refused": func(stream uint32) (string, bool) { return frame(resetFrame, 0, stream, 0, 0, 0, 7), false },
	"going away": func(uint32) (string, bool) {
		return frame(goAwayFrame, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), false
	},
	"gone":                 func(uint32) (string, bool) { return frame(goAwayFrame, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), true },
	"gone because of load": func(uint32) (string, bool) { return frame(goAwayFrame, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11), true },
	"one stream at a time": func(stream uint32) (string, bool) {
		return frame(settingsFrame, 0, 0, 0, 3, 0, 0, 0, 1) + frame(resetFrame, 0, stream, 0, 0, 0, 7), false
	},
}

// answerOn is a whole answer on a stream.
func answerOn(stream uint32) (string, bool) {
	return frame(headersFrame, 4, stream, 0x88) + frame(dataFrame, 1, stream, []byte(aChunk+doneEvent)...), false
}

// overHTTP2 is an endpoint whose server refuses so many requests in a way, each a second late, and then
// answers.
func overHTTP2(requests *int, times int, refusal func(stream uint32) (string, bool)) (*exchange.Endpoint, *wire.Tally) {
	tally := new(wire.Tally)
	transport := wire.Connections{HTTP2: true, Tally: tally, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go http2Server(server, requests, func(stream uint32) (string, bool) {
			if *requests > times {
				return answerOn(stream)
			}
			time.Sleep(time.Second)
			return refusal(stream)
		})
		return client, nil
	}}.Transport()
	return &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test", Transport: transport, Tally: tally, Timeouts: wire.Timeouts{Total: time.Minute}}, tally
}

func TestWhatAnHTTP2ServerDidNotProcessIsSentAgain(t *testing.T) {
	for name, refusal := range refusals {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests := 0
				o, tally := overHTTP2(&requests, 2, refusal)
				got, rec := ask(t, o)
				if got.Class != record.OK || got.Chunks != 1 || requests != 3 || rec.Attempts != 3 || rec.Reconnects != 2 {
					t.Errorf("%+v; %d requests, %d attempts, %d of them for refusals", got, requests, rec.Attempts, rec.Reconnects)
				}
				if rec.Times.Sent != 0 || rec.Times.FirstByte < 2*time.Second || rec.Conn.Connect+rec.Conn.TLS > 0 {
					t.Errorf("times count from the first attempt: %+v", rec)
				}
				if e := reported(tally); e.Connections.Unprocessed != 2 {
					t.Errorf("%d refusals counted", e.Connections.Unprocessed)
				}
				o.Transport.(*wire.Transport).CloseIdleConnections()
				time.Sleep(week)
			})
		})
	}
}

func TestAnHTTP2ServerThatTakesNothingIsAskedTenTimes(t *testing.T) {
	var texts []string
	for _, why := range []string{"REFUSED_STREAM", "GOAWAY", "GOAWAY with ENHANCE_YOUR_CALM"} {
		texts = append(texts, "the server refused the request in 10 attempts over HTTP/2, without processing it: "+why)
	}
	for name, refusal := range refusals {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests := 0
				o, _ := overHTTP2(&requests, 1000, refusal)
				got, rec := ask(t, o)
				if got.Class != record.Reset || !slices.Contains(texts, got.Error) || requests != 10 || rec.Reconnects != 9 {
					t.Errorf("%+v after %d requests", got, requests)
				}
				o.Transport.(*wire.Transport).CloseIdleConnections()
				time.Sleep(week)
			})
		})
	}
}

func TestAStoppedRequestIsNotSentAgainAfterARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		o, _ := overHTTP2(&requests, 1000, refusals["refused"])
		o.Timeouts.Total = 3500 * time.Millisecond
		if got, _ := ask(t, o); got.Class != record.Timeout || requests != 4 {
			t.Errorf("%+v after %d requests", got, requests)
		}
		o.Transport.(*wire.Transport).CloseIdleConnections()
		time.Sleep(week)
	})
}

// A large body is dropped once it cannot be sent again: over HTTP/2 not before the reply.
func TestALargeBodyIsSentAgainWhole(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || len(body) != 4*exchange.SmallBody {
			t.Errorf("%d bytes, %v", len(body), err)
		}
		if requests.Add(1) == 1 {
			panic(http.ErrAbortHandler) // net/http's server resets the stream: its code is changed below
		}
		streaming(w, r)
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()
	transport := wire.Connections{HTTP2: true, Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		return &refusing{Conn: conn}, err
	}}.Transport()
	defer transport.CloseIdleConnections()
	o := &exchange.Endpoint{Protocol: completions.Protocol, URL: server.URL, Transport: transport}
	rec, req := new(record.Record), &engine.Request{Body: make([]byte, 4*exchange.SmallBody), Once: true}
	for _, err := range o.Send(t.Context(), time.Now(), req, rec) {
		if err != nil {
			t.Error(err)
		}
	}
	if requests.Load() != 2 || rec.Attempts != 2 || req.Body != nil {
		t.Errorf("%d requests, %d attempts, %d bytes kept", requests.Load(), rec.Attempts, len(req.Body))
	}
}

// A refusing connection turns the code of each reset into REFUSED_STREAM.
type refusing struct{ net.Conn }

func (c *refusing) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	for i := 0; i+13 <= n; i++ {
		if string(p[i:i+5]) == "\x00\x00\x04\x03\x00" {
			p[i+12] = 7
		}
	}
	return n, err
}
