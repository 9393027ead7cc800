package exchange_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
	"github.com/servebench/servebench/metrics/record"
)

// wholly reads one whole answer in fake time.
func wholly(t *testing.T, play func(net.Conn) bool) (body, header string, rec *record.Record, err error) {
	t.Helper()
	transport := wire.Connections{NetHTTP: netHTTP, Dial: wiretest.DialScript(play)}.Transport()
	defer transport.CloseIdleConnections()
	o := &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test/v1/embeddings", Transport: transport, Tally: new(wire.Tally)}
	rec = new(record.Record)
	err = o.Whole(t.Context(), time.Now(), &engine.Request{Body: []byte("{}")}, rec, func(h http.Header, b []byte) error {
		body, header = string(b), h.Get("Metadata")
		return nil
	})
	time.Sleep(time.Minute) // the server ends, too
	return body, header, rec, err
}

func TestAWholeAnswerEndsWithItsLastByte(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, header, rec, err := wholly(t, func(conn net.Conn) bool {
			time.Sleep(time.Second)
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nMetadata: m\r\nContent-Length: 6\r\n\r\nabc")
			time.Sleep(time.Second)
			io.WriteString(conn, "def")
			return true
		})
		if err != nil || body != "abcdef" || header != "m" {
			t.Errorf("body %q, header %q: %v", body, header, err)
		}
		if rec.Result.Status != 200 || !rec.Conn.New || rec.Times.FirstByte != time.Second || rec.Times.LastByte != 2*time.Second || rec.E2EL() != 2*time.Second || rec.TTFT() != 0 {
			t.Errorf("record %+v", rec)
		}
	})
}

func TestAWholeAnswerThatFails(t *testing.T) {
	for _, c := range []struct {
		reply  string
		class  record.Class
		says   string
		status int
	}{
		{wiretest.Whole("404 Not Found\r\nContent-Type: application/json", `{"detail":"Not Found"}`), record.Status, "404 Not Found (POST http://server.test/v1/embeddings)", 404},
		{wiretest.Whole("200 OK\r\nContent-Encoding: br", "x"), record.Malformed, "", 200},
		{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", record.Truncated, "", 200},
	} {
		synctest.Test(t, func(t *testing.T) {
			body, _, rec, err := wholly(t, func(conn net.Conn) bool {
				io.WriteString(conn, c.reply)
				return true
			})
			f, ok := errors.AsType[*record.Failure](err)
			if !ok || f.Class != c.class || body != "" || rec.Result.Status != c.status || rec.Times.Last != 0 {
				t.Errorf("%q: %v, body %q, record %+v", c.reply, err, body, rec)
			} else if c.says != "" && f.Error() != c.says {
				t.Errorf("error %q, want %q", f.Error(), c.says)
			}
		})
	}
}

// The expected values are from the shell: printf %s bench-1 | sha256sum.
func TestTheTraceContextOfARequestIsItsID(t *testing.T) {
	for id, want := range map[string][2]string{
		"bench-1":                {"00-ab29e27f94d7a6e97bec92c4e65a34c9-fcba9f00c070cd55-01", "servebench=bench-1"},
		"bench=1":                {"", ""},
		"bench,1":                {"", ""},
		"bench 1 ":               {"", ""},
		"bänch-1":                {"", ""},
		strings.Repeat("x", 256): {"", "servebench=" + strings.Repeat("x", 256)},
		strings.Repeat("x", 257): {"", ""},
	} {
		parent, state := exchange.TraceContext(id, id)
		if !regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-01$`).MatchString(parent) || want[0] != "" && parent != want[0] || state != want[1] {
			t.Errorf("%q: %q, %q; want %q", id, parent, state, want)
		}
	}
}

func TestTraceContextIsSentOnRequest(t *testing.T) {
	for _, traced := range []bool{false, true} {
		var got http.Header
		o := &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test/v1/completions", Traced: traced, Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			got = r.Header
			return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("")), Request: r}, nil
		})}
		for _, id := range []string{"", "bench-1"} {
			r, err := exchange.Post(o, t.Context(), &engine.Request{ID: id}, bytes.NewReader(nil))
			if err != nil {
				t.Fatal(err)
			}
			r.Body.Close()
			if sent := traced && id != ""; (got.Get("Traceparent") != "") != sent || (got.Get("Tracestate") == "servebench=bench-1") != sent {
				t.Errorf("traced %v, id %q: %v", traced, id, got)
			}
		}
	}
}

func TestAttemptsAreSpansOfOneTrace(t *testing.T) {
	// printf %s bench-1-a2 | sha256sum
	parent, state := exchange.TraceContext("bench-1", "bench-1-a2")
	if want := "00-ab29e27f94d7a6e97bec92c4e65a34c9-a7328a75da922c65-01"; parent != want || state != "servebench=bench-1-a2" {
		t.Errorf("%q, %q; want %q", parent, state, want)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
