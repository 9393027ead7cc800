package exchange_test

import (
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
	"github.com/servebench/servebench/metrics/record"
)

// week is longer than any server sleeps: a bubble must outlive its goroutines.
const week = 7 * 24 * time.Hour

// inTime runs one request in fake time against a server that plays script, and
// gives its record, the arrivals of its chunks and how it failed.
func inTime(t *testing.T, o *exchange.Endpoint, script func(say func(string))) (rec *record.Record, arrivals []time.Duration, failed *record.Failure) {
	t.Helper()
	epoch := time.Now()
	transport := wire.Connections{NetHTTP: netHTTP, Timeout: time.Minute, Dial: wiretest.DialScript(func(c net.Conn) bool {
		script(func(s string) {
			if _, err := io.WriteString(c, s); err != nil {
				runtime.Goexit()
			}
		})
		return true
	})}.Transport()
	defer transport.CloseIdleConnections()
	o.URL, o.Transport = "http://server.test/v1", transport
	rec = &record.Record{}
	for c, err := range o.Send(t.Context(), epoch, &engine.Request{Body: []byte("{}")}, rec) {
		if err != nil {
			failed, _ = errors.AsType[*record.Failure](err)
			continue
		}
		arrivals = append(arrivals, c.At.Sub(epoch))
	}
	rec.Times.End = time.Since(epoch)
	time.Sleep(week)
	return rec, arrivals, failed
}

// asDelta makes a chunk of a chat of one of a completion.
var asDelta = strings.NewReplacer(`"text":"a"`, `"delta":{"content":"a"}`, `"text":""`, `"delta":{"content":""}`)

func TestTimesAreThoseOfTheWire(t *testing.T) {
	for _, chat := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			aChunk, lastChunk := aChunk, lastChunk
			if chat {
				aChunk, lastChunk = asDelta.Replace(aChunk), asDelta.Replace(lastChunk)
			}
			rec, arrivals, failed := inTime(t, &exchange.Endpoint{Protocol: protocolOr(chat)}, func(say func(string)) {
				time.Sleep(time.Second)
				say(streamHead)
				time.Sleep(time.Second)
				say(wiretest.Framed(aChunk + aChunk))
				time.Sleep(time.Second)
				say(wiretest.Framed(lastChunk[:20]))
				time.Sleep(time.Second)
				say(wiretest.Framed(lastChunk[20 : len(lastChunk)-1]))
				time.Sleep(time.Second)
				say(wiretest.Framed("\n"))
				time.Sleep(time.Second)
				say(wiretest.Framed(usageChunk))
				time.Sleep(time.Second)
				say(wiretest.Framed(doneEvent) + streamEnd)
			})
			if failed != nil {
				t.Fatal(failed)
			}
			if want := []time.Duration{2 * time.Second, 2 * time.Second, 4 * time.Second}; !cmp.Equal(want, arrivals) {
				t.Errorf("chunks at %v, want %v", arrivals, want)
			}
			var trailer time.Duration
			if chat {
				trailer = 6 * time.Second
			}
			want := &record.Record{Attempts: 1, Conn: record.Conn{New: true}, Times: record.Times{FirstByte: time.Second, Last: 4 * time.Second, Trailer: trailer, LastByte: 7 * time.Second, End: 7 * time.Second},
				Answer: record.Answer{SharedReads: 1, Finish: "stop"}, Tokens: record.Tokens{In: 3, Out: 2}, Result: record.Result{Status: 200}}
			if diff := cmp.Diff(want, rec, cmp.AllowUnexported(record.Stamps{})); diff != "" {
				t.Errorf("chat %t: record (-want +got):\n%s", chat, diff)
			}
		})
	}
}

func TestLimitsEndARequest(t *testing.T) {
	limits := wire.Timeouts{FirstByte: 10 * time.Minute, Stall: 5 * time.Minute, Total: time.Hour}
	never := func() { time.Sleep(24 * time.Hour) }
	for _, test := range []struct {
		name   string
		limits wire.Timeouts
		script func(say func(string))
		class  record.Class
		err    string
		end    time.Duration
	}{
		{"no head", limits, func(say func(string)) { never() },
			record.FirstByte, "no first byte within 10m0s", 10 * time.Minute},
		{"a head alone", limits, func(say func(string)) { say(streamHead); never() },
			record.FirstByte, "no first byte within 10m0s", 10 * time.Minute},
		{"a header that trickles", limits, func(say func(string)) {
			time.Sleep(9 * time.Minute)
			for _, c := range streamHead {
				say(string(c))
				time.Sleep(time.Minute)
			}
		}, record.FirstByte, "no first byte within 10m0s", 10 * time.Minute},
		{"a header that trickles, without a limit on the first byte", wire.Timeouts{Stall: 5 * time.Minute}, func(say func(string)) {
			time.Sleep(9 * time.Minute)
			for _, c := range streamHead {
				say(string(c))
				time.Sleep(time.Minute)
			}
		}, record.Stall, "the reply's header was still incomplete 5m0s after it began", 14 * time.Minute},
		{"a slow header, but within the limit", wire.Timeouts{Stall: 5 * time.Minute}, func(say func(string)) {
			say(streamHead[:20])
			time.Sleep(299 * time.Second)
			say(streamHead[20:])
			time.Sleep(time.Hour)
			say(wiretest.Framed(aChunk+doneEvent) + streamEnd)
		}, record.OK, "", 299*time.Second + time.Hour},
		{"stall", limits, func(say func(string)) {
			time.Sleep(9 * time.Minute)
			say(streamHead + wiretest.Framed(aChunk))
			time.Sleep(4 * time.Minute)
			say(wiretest.Framed(": ping\n\n"))
			never()
		}, record.Stall, "the stream stalled for 5m0s", 18 * time.Minute},
		{"total", limits, func(say func(string)) {
			for say(streamHead); ; time.Sleep(time.Minute) {
				say(wiretest.Framed(aChunk))
			}
		}, record.Timeout, "not finished within 1h0m0s", time.Hour},
		{"slow, but within the limits", limits, func(say func(string)) {
			say(streamHead)
			time.Sleep(599 * time.Second)
			for range 8 {
				say(wiretest.Framed(aChunk))
				time.Sleep(299 * time.Second)
			}
			say(wiretest.Framed(doneEvent) + streamEnd)
		}, record.OK, "", (599 + 8*299) * time.Second},
		{"a stall limit alone waits for the first byte", wire.Timeouts{Stall: time.Minute}, func(say func(string)) {
			say(streamHead)
			time.Sleep(24 * time.Hour)
			say(wiretest.Framed(aChunk))
			never()
		}, record.Stall, "the stream stalled for 1m0s", 24*time.Hour + time.Minute},
		{"a first byte limit alone bears a stall", wire.Timeouts{FirstByte: time.Minute}, func(say func(string)) {
			say(streamHead + wiretest.Framed(aChunk))
			time.Sleep(24 * time.Hour)
			say(wiretest.Framed(doneEvent) + streamEnd)
		}, record.OK, "", 24 * time.Hour},
		{"no limits", wire.Timeouts{}, func(say func(string)) {
			time.Sleep(24 * time.Hour)
			say(streamHead + wiretest.Framed(aChunk))
			time.Sleep(24 * time.Hour)
			say(wiretest.Framed(doneEvent) + streamEnd)
		}, record.OK, "", 48 * time.Hour},
		{"no end after [DONE]", limits, func(say func(string)) { say(streamHead + wiretest.Framed(aChunk+doneEvent)); never() },
			record.OK, "", exchange.LingerTimeout},
		{"no end after an error", limits, func(say func(string)) { say(streamHead + wiretest.Framed(`data: {"error":"boom"}`+"\n\n")); never() },
			record.InStream, "boom", exchange.LingerTimeout},
		{"no end of a refusal", limits, func(say func(string)) {
			say("HTTP/1.1 500 Oh\r\nContent-Length: 100\r\n\r\nboom")
			never()
		}, record.Status, "500 Internal Server Error: boom", 5 * time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec, _, failed := inTime(t, &exchange.Endpoint{Protocol: completions.Protocol, Timeouts: test.limits}, test.script)
				if failed == nil {
					failed = record.Failf(record.OK, "")
				}
				if failed.Class != test.class || failed.Error() != test.err || rec.Times.End != test.end {
					t.Errorf("class %q, %q at %v; want %q, %q at %v", failed.Class, failed, rec.Times.End, test.class, test.err, test.end)
				}
			})
		})
	}
}
