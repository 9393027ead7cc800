package exchange_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
	"github.com/servebench/servebench/metrics/record"
)

// maxEvent is the largest event that package sse takes.
const maxEvent = 8 << 20

// longestFailure bounds what is kept of a server's words, in bytes.
const longestFailure = 1500

// longestHeader bounds the header of a reply, in bytes.
const longestHeader = 256 << 10

// wellStreamed is an answer of a server that is well.
var wellStreamed = streamHead + wiretest.Framed(aChunk+doneEvent) + streamEnd

const bareHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"

func TestEndlessAnswersFail(t *testing.T) {
	textual := fmt.Sprintf(`data: {"choices":[{"index":0,"text":"%s","finish_reason":null}]}`+"\n\n", strings.Repeat("a", 8<<10))
	for _, test := range []struct {
		name, head, again string
		most              int64 // bytes that may be taken
		class             record.Class
		message           string
	}{
		{"event", bareHead + "data: ", "x", maxEvent, record.Malformed, "an event is longer than 8 MiB"},
		{"data lines", bareHead, "data: x\n", maxEvent, record.Malformed, "an event is longer than 8 MiB"},
		{"comment", bareHead + ":", "x", maxEvent, record.Malformed, "an event is longer than 8 MiB"},
		{"chunks", bareHead, "data: {\"choices\":[{}]}\n\n", 32 * exchange.MaxChunks, record.Malformed, "the answer goes on after 1048576 chunks"},
		{"text", bareHead, textual, 2 * exchange.MaxText, record.Malformed, "the answer goes on after 16 MiB of text"},
		{"status line", "HTTP/1.1 200 ", "O", longestHeader, record.Malformed, "headers exceeded 262144 bytes"},
		{"header", "HTTP/1.1 200 OK\r\n", "X-A: a\r\n", longestHeader, record.Malformed, "headers exceeded 262144 bytes"},
		{"header line", "HTTP/1.1 200 OK\r\nX-A: ", "a", longestHeader, record.Malformed, "headers exceeded 262144 bytes"},
		{"early hints", "", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", longestHeader, record.Malformed, "headers exceeded 262144 bytes"},
		{"chunk extension", streamHead + "1;", "a", longestHeader, record.Malformed, "header line too long"},
		{"chunk extensions", streamHead, "1;a=" + strings.Repeat("b", 500) + "\r\n\n\r\n", longestHeader, record.Malformed, "too much non-data"},
		{"trailer", streamHead + wiretest.Framed(aChunk) + "0\r\n", "X-A: a\r\n", longestHeader, record.Malformed, "suspiciously long trailer"},
		{"refusal", "HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\n\r\n", "no ", 64 << 10, record.Status, "500 Internal Server Error: no no "},
		{"page", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n", "<p>no", 64 << 10, record.Malformed, "the answer is text/html"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := &wiretest.BadServer{Well: wellStreamed, Head: test.head, Again: test.again}
			transport := wire.Connections{NetHTTP: netHTTP, Dial: wiretest.Narrowly}.Transport()
			defer transport.CloseIdleConnections()
			o := &exchange.Endpoint{Protocol: completions.Protocol, URL: server.Start(t), Transport: transport}
			class, message := sendWithin(t, 160<<20, o, new(record.Record))
			if class != test.class || !strings.Contains(message, test.message) || len(message) > longestFailure+3 {
				t.Errorf("class %q, %q", class, message)
			}
			if sent := server.Sent.Load(); sent > test.most+wiretest.InFlight {
				t.Errorf("%d bytes of the answer were taken", sent)
			}
			transport.CloseIdleConnections()
			if class, message := sendOne(t, o, new(record.Record)); class != record.OK {
				t.Errorf("the next request: %q, %q", class, message)
			}
		})
	}
}

// sendOne sends a request and keeps nothing of its answer.
func sendOne(t *testing.T, o *exchange.Endpoint, rec *record.Record) (class record.Class, message string) {
	t.Helper()
	*rec = record.Record{}
	for _, err := range o.Send(t.Context(), time.Now(), &engine.Request{Body: []byte("{}")}, rec) {
		if err != nil {
			class, message = record.Classify(err)
		}
	}
	return class, message
}

// sendWithin is sendOne, which may allocate that many bytes.
func sendWithin(t *testing.T, most uint64, o *exchange.Endpoint, rec *record.Record) (class record.Class, message string) {
	t.Helper()
	before := wiretest.Mallocs()
	class, message = sendOne(t, o, rec)
	if grown := wiretest.Mallocs() - before; grown > most {
		t.Errorf("%d MiB were allocated", grown>>20)
	}
	return class, message
}

func TestWhatHoldsNothingTakesNoRoom(t *testing.T) {
	if raced {
		t.Skip("the race detector makes sync.Pool allocate at random")
	}
	for name, again := range map[string]string{
		"comments": ": ping\n\n", "blank lines": "\n", "events without data": "event: a\n\n", "unknown fields": "a: b\n",
		"events without choices": "data: {\"choices\":[]}\n\n", "usage": usageChunk, "errors of no kind": "data: {}\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			times := 64 // 4 MiB
			if name == "unknown fields" {
				times = 192 // more than an event may have
			}
			server := &wiretest.BadServer{Well: wellStreamed, Head: bareHead, Again: again, Times: times}
			transport := wire.Connections{NetHTTP: netHTTP}.Transport()
			defer transport.CloseIdleConnections()
			o := &exchange.Endpoint{Protocol: completions.Protocol, URL: server.Start(t), Transport: transport}
			before := wiretest.Mallocs()
			class, message := sendOne(t, o, &record.Record{})
			if grown := wiretest.Mallocs() - before; grown > 512<<10 {
				t.Errorf("%d KiB were allocated", grown>>10)
			}
			if sent := server.Sent.Load(); class != record.Empty || sent < int64(times)<<16*9/10 {
				t.Errorf("class %q, %q after %d bytes", class, message, sent)
			}
		})
	}
}

func TestHeadersOfHTTP2AreBounded(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/bad" {
			for i := range 8 {
				w.Header().Set(fmt.Sprint("X-", i), strings.Repeat("a", longestHeader/4))
			}
		}
		streaming(w, r)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	transport := wire.Connections{NetHTTP: netHTTP, Insecure: true, HTTP2: true}.Transport()
	defer transport.CloseIdleConnections()
	if class, message := sendOne(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: server.URL + "/bad", Transport: transport}, &record.Record{}); class == record.OK || len(message) > longestFailure {
		t.Errorf("class %q, %q", class, message)
	}
	if class, message := sendOne(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: server.URL, Transport: transport}, &record.Record{}); class != record.OK {
		t.Errorf("the next request: %q, %q", class, message)
	}
}

func TestOddAnswersFailByClass(t *testing.T) {
	deep := strings.Repeat(`[`, 1<<20)
	for _, test := range []struct {
		name, reply string
		class       record.Class
		message     string
	}{
		{"HTTP/0.9", "<html>hello</html>\n", record.Malformed, "malformed HTTP"},
		{"negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", record.Malformed, "bad Content-Length"},
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", record.Malformed, "Content-Length"},
		{"length beyond reason", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", record.Malformed, "bad Content-Length"},
		{"NUL in the status line", "HTTP/1.1 200 O\x00K\r\nContent-Type: text/html\r\nContent-Length: 1\r\n\r\na", record.Malformed, "the answer is text/html, not an event stream: a"},
		{"NUL in a header", "HTTP/1.1 302 Found\r\nLocation: /\x00\x1b[31m\xff\r\nContent-Length: 0\r\n\r\n", record.Malformed, "malformed"},
		{"NUL in an event", wiretest.Whole("200 OK", "data: {\"choices\":\x00}\n\n"), record.Malformed, `an event is not JSON`},
		{"half a head of gzip", wiretest.Whole("200 OK\r\nContent-Encoding: gzip", "\x1f\x8b"), record.Truncated, "unexpected EOF"},
		{"unasked br", wiretest.Whole("200 OK\r\nContent-Encoding: br", "\x1f"), record.Malformed, "the answer is compressed (br)"},
		{"invalid UTF-8 in a message", wiretest.Whole("500 Oh", "{\"error\":\"a\xff\xfeb\"}"), record.Status, "500 Internal Server Error: a"},
		{"invalid UTF-8 in a header", wiretest.Whole("302 Found\r\nLocation: /\xff\xfe", ""), record.Status, "(Location: /; redirects are not followed)"},
		{"deep event", wiretest.Whole("200 OK", "data: "+deep+"\n\n"), record.Malformed, "an event is not JSON"},
		{"deep choices", wiretest.Whole("200 OK", `data: {"Choices":`+deep+strings.Repeat("]", 1<<20)+"}\n\n"), record.Malformed, "an event is not JSON"},
		{"deep error", wiretest.Whole("400 Bad Request", `{"error":`+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+"}"), record.Status, "400 Bad Request: [[["},
		{"long list of errors", wiretest.Whole("400 Bad Request", `{"detail":[`+strings.Repeat(`{},`, 20000)+`{}]}`), record.Status, "400 Bad Request: {}; {}"},
		{"choices without number", wiretest.Whole("200 OK", `data: {"Choices":[`+strings.Repeat(`{},`, 1<<20)+"{}]}\n\n"+doneEvent), record.OK, ""},
		{"long finish reason", wiretest.Whole("200 OK", `data: {"choices":[{"finish_reason":"`+strings.Repeat("a", 1<<20)+"\"}]}\n\n"), record.OK, ""},
		{"choices twice", wiretest.Whole("200 OK", `data: {"choices":[{"text":"a"}],"choices":[{"text":"b"}]}`+"\n\n"+doneEvent), record.OK, ""},
		{"an index beyond reason", wiretest.Whole("200 OK", `data: {"choices":[{"index":1e999,"text":"a"}]}`+"\n\n"+doneEvent), record.OK, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := &wiretest.BadServer{Well: wellStreamed, Head: test.reply}
			transport := wire.Connections{NetHTTP: netHTTP}.Transport()
			defer transport.CloseIdleConnections()
			o := &exchange.Endpoint{Protocol: completions.Protocol, URL: server.Start(t), Transport: transport}
			rec := new(record.Record)
			class, message := sendWithin(t, 64<<20, o, rec)
			if class != test.class || !strings.Contains(message, test.message) || !utf8.ValidString(message) || len(message) > longestFailure+3 || len(rec.Answer.Finish) > exchange.MaxFinish+3 {
				t.Errorf("class %q, %.300q, finish reason %.300q", class, message, rec.Answer.Finish)
			}
			transport.CloseIdleConnections()
			if class, message := sendOne(t, o, rec); class != record.OK {
				t.Errorf("the next request: %q, %q", class, message)
			}
		})
	}
}
