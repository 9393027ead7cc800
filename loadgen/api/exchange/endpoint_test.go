package exchange_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	openai "github.com/sashabaranov/go-openai"

	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
	"github.com/servebench/servebench/metrics/record"
)

const (
	streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	streamEnd  = "0\r\n\r\n"
	aChunk     = `data: {"choices":[{"index":0,"text":"a","finish_reason":null}]}` + "\n\n"
	lastChunk  = `data: {"choices":[{"index":0,"text":"","finish_reason":"stop"}]}` + "\n\n"
	usageChunk = `data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}` + "\n\n"
	doneEvent  = "data: [DONE]\n\n"
)

// A program can ask for the parts of an error that the server sent.
func TestAFailureHasTheServersError(t *testing.T) {
	const boom = `{"error":{"message":"boom","type":"BadRequestError","code":40001,"param":7}}`
	for name, c := range map[string]struct {
		reply  string
		status int
	}{
		"refused":       {wiretest.Whole("400 Bad Request\r\nContent-Type: application/json", boom), 400},
		"a document":    {wiretest.Whole("200 OK\r\nContent-Type: application/json", boom), 0},
		"in the stream": {streamHead + wiretest.Framed("data: "+boom+"\n\n") + streamEnd, 0},
	} {
		o := openAIAt(wiretest.DialRaw([]byte(c.reply)), false)
		var last error
		for _, err := range o.Send(t.Context(), time.Now(), &engine.Request{Body: []byte("{}")}, new(record.Record)) {
			last = err
		}
		said, ok := errors.AsType[*openai.APIError](last)
		if !ok || said.Message != "boom" || said.Type != "BadRequestError" || said.HTTPStatusCode != c.status {
			t.Errorf("%s: %+v in %v", name, said, last)
		}
	}
	for _, reply := range []string{wiretest.Whole("502 Bad Gateway", "<html>oops</html>"), wiretest.Whole("400 Bad Request", `{"error":""}`), streamHead + streamEnd} {
		o := openAIAt(wiretest.DialRaw([]byte(reply)), false)
		for _, err := range o.Send(t.Context(), time.Now(), &engine.Request{Body: []byte("{}")}, new(record.Record)) {
			if said, ok := errors.AsType[*openai.APIError](err); ok {
				t.Errorf("%q has the server's error %+v", reply, said)
			}
		}
	}
}

func TestFailuresAreClassed(t *testing.T) {
	for _, test := range []struct {
		name, reply string
		class       record.Class
		message     string
	}{
		{"a good answer", streamHead + wiretest.Framed(aChunk+lastChunk+usageChunk+doneEvent) + streamEnd, record.OK, ""},
		{"no [DONE]", streamHead + wiretest.Framed(aChunk+lastChunk) + streamEnd, record.OK, ""},
		{"no finish reason", streamHead + wiretest.Framed(aChunk+doneEvent) + streamEnd, record.OK, ""},
		{"cut after [DONE]", streamHead + wiretest.Framed(aChunk+doneEvent), record.OK, ""},
		{"neither", streamHead + wiretest.Framed(aChunk) + streamEnd, record.Truncated, "the stream ended without a finish reason and without [DONE]"},
		{"clean end in an event", streamHead + wiretest.Framed(aChunk+aChunk[:20]) + streamEnd, record.Truncated, "the connection was cut in the middle of the answer: EOF"},
		{"cut in an event", streamHead + wiretest.Framed(aChunk+aChunk[:20]), record.Truncated, "the connection was cut in the middle of the answer: unexpected EOF"},
		{"cut after the finish reason", streamHead + wiretest.Framed(aChunk+lastChunk), record.Truncated, "the connection was cut in the middle of the answer: unexpected EOF"},
		{"cut without a chunk", streamHead, record.Truncated, "the connection was cut in the middle of the answer: unexpected EOF"},
		{"no reply", "", record.Truncated, "the connection was cut before the reply: EOF"},
		{"half a head", streamHead[:40], record.Truncated, "the connection was cut before the reply: unexpected EOF"},
		{"no HTTP", "hello\r\n\r\n", record.Malformed, `malformed HTTP response "hello"`},
		{"broken framing", streamHead + "xyz\r\n", record.Malformed, "the answer breaks the protocol: invalid byte in chunk length"},
		{"no JSON", streamHead + wiretest.Framed(aChunk+"data: oops\n\n"+doneEvent) + streamEnd, record.Malformed, `an event is not JSON: "oops"`},
		{"empty", streamHead + streamEnd, record.Empty, exchange.NeverValid},
		{"[DONE] alone", streamHead + wiretest.Framed(doneEvent) + streamEnd, record.Empty, exchange.NeverValid},
		{"usage alone", streamHead + wiretest.Framed(usageChunk+doneEvent) + streamEnd, record.Empty, exchange.NeverValid},
		{"error in the stream", streamHead + wiretest.Framed(aChunk+`data: {"error":{"message":"boom","code":500}}`+"\n\n"+doneEvent) + streamEnd, record.InStream, "boom"},
		{"error as text", streamHead + wiretest.Framed(aChunk+`data: {"error":"boom"}`+"\n\n") + streamEnd, record.InStream, "boom"},
		{"vLLM's older error", streamHead + wiretest.Framed(`data: {"object":"error","message":"boom","type":"BadRequestError","code":400}`+"\n\n") + streamEnd, record.InStream, "boom"},
		{"error event", streamHead + wiretest.Framed(aChunk+"event: error\ndata: boom\n\n") + streamEnd, record.InStream, "boom"},
		{"error event without a message", streamHead + wiretest.Framed("data: {\"error\":{\"code\":7}}\n\n") + streamEnd, record.InStream, `{"code":7}`},
		{"llama.cpp's older error", streamHead + wiretest.Framed(aChunk+"error: {\"code\":500,\"message\":\"boom\",\"type\":\"server_error\"}\n\n") + streamEnd, record.InStream, "boom"},
		{"llama.cpp's older error at once", streamHead + wiretest.Framed("error: {\"code\":400,\"message\":\"boom\"}\n\n") + streamEnd, record.InStream, "boom"},
		{"llama.cpp's older error, cut", streamHead + wiretest.Framed(aChunk+"error: {\"message\":\"boom\"}") + streamEnd, record.InStream, "boom"},
		{"llama.cpp's older error after the end", streamHead + wiretest.Framed(aChunk+doneEvent+"error: {\"message\":\"boom\"}\n\n") + streamEnd, record.OK, ""},
		{"another field of that name", streamHead + wiretest.Framed("error: none\n"+aChunk+doneEvent) + streamEnd, record.OK, ""},
		{"a reason that is an object", streamHead + wiretest.Framed(aChunk+strings.Replace(lastChunk, `"stop"`, `{"type":"length","length":2}`, 1)) + streamEnd, record.OK, ""},
		{"a reason that is an error", streamHead + wiretest.Framed(aChunk+strings.Replace(lastChunk, `"stop"`, `{"type":"abort","message":"gone"}`, 1)) + streamEnd, record.Unfinished, "the server did not finish the answer: its finish reason is abort"},
		{"error as a whole reply", wiretest.Whole("200 OK\r\nContent-Type: application/json", `{"error":{"message":"boom"}}`), record.InStream, "boom"},
		{"a page", wiretest.Whole("200 OK\r\nContent-Type: text/html; charset=utf-8", "<html><title>Log\n in</title><p>x"), record.Malformed, "the answer is text/html, not an event stream: Log in"},
		{"a stream under another name", wiretest.Whole("200 OK\r\nContent-Type: text/plain; charset=utf-8", aChunk+doneEvent), record.OK, ""},
		{"a text", wiretest.Whole("200 OK\r\nContent-Type: text/plain", "hello\n"), record.Empty, exchange.NeverValid},
		{"redirect", wiretest.Whole("307 Temporary Redirect\r\nLocation: http://other.test/v1", ""), record.Status, "307 Temporary Redirect (Location: http://other.test/v1; redirects are not followed)"},
		{"too many", wiretest.Whole("429 Too Many Requests\r\nRetry-After: 20", `{"error":{"message":"slow down"}}`), record.Status, "429 Too Many Requests: slow down (Retry-After: 20)"},
		{"FastAPI", wiretest.Whole("404 Not Found", `{"detail":"Not Found"}`), record.Status, "404 Not Found (POST http://server.test/v1/completions)"},
		{"the status, and more", wiretest.Whole("429 Too Many Requests", `{"error":{"message":"Too Many Requests: 3 waiting"}}`), record.Status, "429 Too Many Requests: 3 waiting"},
		{"haproxy", wiretest.Whole("504 Gateway Time-out", "<html><body><h1>504 Gateway Time-out</h1>\nThe server didn't respond in time.\n</body></html>\n"), record.Status, "504 Gateway Time-out The server didn't respond in time."},
		{"pydantic", wiretest.Whole("422 Unprocessable Entity", `{"detail":[{"loc":["body","model"],"msg":"field required"},{"loc":["body",0],"msg":"bad"}]}`), record.Status, "422 Unprocessable Entity: body.model: field required; body.0: bad"},
		{"odd detail", wiretest.Whole("400 Bad Request", `{"detail":[["a"],{"msg":"bad"},7]}`), record.Status, `400 Bad Request: ["a"]; bad; 7`},
		{"no body", wiretest.Whole("503 Service Unavailable", ""), record.Status, "503 Service Unavailable"},
		{"unheard-of status", wiretest.Whole("599 Odd", "why not"), record.Status, "599: why not"},
		{"message of several lines", wiretest.Whole("400 Bad Request", `{"error":{"message":"one\n\u001b[31mtwo"}}`), record.Status, "400 Bad Request: one  [31mtwo"},
		{"long message", wiretest.Whole("400 Bad Request", strings.Repeat("é", 1000)), record.Status, "400 Bad Request: " + strings.Repeat("é", 500/2) + "…"},
		{"aborted", streamHead + wiretest.Framed(aChunk+strings.Replace(lastChunk, "stop", "abort", 1)+doneEvent) + streamEnd, record.Unfinished, "the server did not finish the answer: its finish reason is abort"},
		{"dropped", streamHead + wiretest.Framed(aChunk+strings.Replace(lastChunk, "stop", "error", 1)) + streamEnd, record.Unfinished, "the server did not finish the answer: its finish reason is error"},
		{"one choice aborted", streamHead + wiretest.Framed(strings.Replace(lastChunk, "stop", "abort", 1)+lastChunk+doneEvent) + streamEnd, record.Unfinished, "the server did not finish the answer: its finish reason is abort"},
		{"cut in an error", "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 1000\r\n\r\nOut of", record.Status, "500 Internal Server Error: Out of"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, _ := ask(t, openAIAt(wiretest.DialRaw([]byte(test.reply)), false))
			if got.Class != test.class || got.Error != test.message {
				t.Errorf("class %q, %q\nwant  %q, %q", got.Class, got.Error, test.class, test.message)
			}
		})
	}
}

func FuzzAnyReplyGivesAnAnswerOrAFailure(f *testing.F) {
	f.Add(200, "text/event-stream", []byte(aChunk+lastChunk+usageChunk+doneEvent))
	f.Add(200, "", []byte(aChunk+`data: {"error":{"message":"boom"}}`))
	f.Add(200, "application/json", []byte(`{"detail":[{"loc":["body",1],"msg":"x"}]}`))
	f.Add(500, "text/html", []byte("<html><title>Oh</title><p>no"))
	f.Fuzz(func(t *testing.T, status int, kind string, body []byte) {
		reply := &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(bytes.NewReader(body))}
		got, rec := ask(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test", Transport: wiretest.Replying{Reply: reply}})
		if (got.Class == record.OK) != (got.Error == "") || !utf8.ValidString(got.Error) || got.Class == record.OK && got.Chunks == 0 {
			t.Errorf("%+v", got)
		}
		if got.Chunks > 0 != (rec.Times.Last > 0) {
			t.Errorf("%d chunks, the last at %v", got.Chunks, rec.Times.Last)
		}
	})
}

func TestPartOfAnAnswerIsKept(t *testing.T) {
	reply := streamHead + wiretest.Framed(aChunk+aChunk+usageChunk[:30])
	got, rec := ask(t, openAIAt(wiretest.DialRaw([]byte(reply)), false))
	if got.Class != record.Truncated || got.Chunks != 2 || rec.Answer.Text != "aa" || rec.Result.Status != 200 {
		t.Errorf("read %+v", got)
	}
}

func TestTextIsKeptWhereItIsNeeded(t *testing.T) {
	for _, test := range []struct {
		usage, want string
		keep        bool
	}{{usageChunk, "", false}, {usageChunk, "aa", true}, {"", "aa", false}} {
		reply := streamHead + wiretest.Framed(aChunk+aChunk+lastChunk+test.usage+doneEvent) + streamEnd
		var rec record.Record
		o := openAIAt(wiretest.DialRaw([]byte(reply)), false)
		for _, err := range o.Send(t.Context(), time.Now(), &engine.Request{Body: []byte("{}"), KeepText: test.keep}, &rec) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if rec.Answer.Text != test.want {
			t.Errorf("with usage %q and KeepText %t: text %q, want %q", test.usage, test.keep, rec.Answer.Text, test.want)
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
		in, out      int
	}{
		{"continuous usage", chunk(0, "", 0) + chunk(0, "a", 1) + chunk(0, "bc", 3) + doneEvent, []int{0, 1, 3}, 3, 3},
		{"in the last chunk alone", aChunk + aChunk + chunk(0, "", 2) + doneEvent, []int{0, 0, 0}, 3, 2},
		{"several choices", chunk(0, "a", 1) + chunk(1, "b", 1) + chunk(0, "c", 2) + doneEvent, []int{1, 0, 0}, 3, 3},
		{"a choice beyond reason", chunk(5000, "a", 1) + doneEvent, []int{0}, 7, 0},
		{"a choice before the first", chunk(-1, "a", 1) + doneEvent, []int{0}, 7, 0},
		{"counts beyond reason", chunk(0, "a", 1) + chunk(0, "b", math.MaxInt) + chunk(1, "c", math.MaxInt) + doneEvent, []int{1, 0, 0}, 3, 1},
		{"all of them beyond reason", chunk(0, "a", 1) + `data: {"choices":[],"usage":{"prompt_tokens":9000000000000000000,"completion_tokens":9000000000000000000}}` + "\n\n" + doneEvent, []int{1}, 3, 1},
		{"usage alone overrules", chunk(0, "a", 1) + `data: {"choices":[],"usage":{"completion_tokens":9}}` + "\n\n" + doneEvent, []int{1}, 7, 9},
		{"zeros", chunk(0, "a", 0) + usageChunk + chunk(0, "", 0) + doneEvent, []int{0, 0}, 3, 2},
	} {
		rec := record.Record{Tokens: record.Tokens{In: 7}}
		var tokens []int
		o := openAIAt(wiretest.DialRaw([]byte(streamHead+wiretest.Framed(test.events)+streamEnd)), false)
		for c, err := range o.Send(t.Context(), time.Now(), &engine.Request{Body: []byte("{}")}, &rec) {
			if err != nil {
				t.Fatal(err)
			}
			tokens = append(tokens, c.Tokens)
		}
		if in, out := countsOf(&rec); !cmp.Equal(test.tokens, tokens) || in != test.in || out != test.out {
			t.Errorf("%s: tokens %v, in %d, out %d; want %v, %d, %d", test.name, tokens, in, out, test.tokens, test.in, test.out)
		}
	}
}

func TestLeavingEarlyStopsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := wire.Connections{NetHTTP: netHTTP, Dial: wiretest.DialScript(func(c net.Conn) bool {
			_, _ = io.WriteString(c, streamHead+wiretest.Framed(aChunk+aChunk))
			time.Sleep(time.Hour)
			return true
		})}.Transport()
		defer transport.CloseIdleConnections()
		o := &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test", Transport: transport}
		rec := &record.Record{}
		for range o.Send(t.Context(), time.Now(), &engine.Request{Body: []byte("{}")}, rec) {
			break
		}
		if rec.Answer.Text != "a" || rec.Result.Status != 200 {
			t.Errorf("record %+v", rec)
		}
		time.Sleep(week)
	})
}
