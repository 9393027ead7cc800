package exchange_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/loadgen/api/chat"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/responses"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics/record"
)

// An unstreamed transport answers every request with the same JSON.
type unstreamed string

func (u unstreamed) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(string(u)))}, nil
}

const wholeUsage = `"usage":{"prompt_tokens":11,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":2}}`

func TestAnswersThatAreNotStreamedAreRead(t *testing.T) {
	counted := record.Record{Tokens: record.Tokens{In: 11, Out: 7, Cached: 8, OutReasoned: 2}, Answer: record.Answer{Unstreamed: true}}
	with := func(text, finish, calls, reply string) record.Record {
		r := counted
		r.Answer.Text, r.Answer.Finish, r.Answer.Reply = text, finish, reply
		if calls != "" {
			r.Answer.Calls = json.RawMessage(calls)
		}
		return r
	}
	call := `[{"id": "call_1", "type": "function", "function": {"name": "get", "arguments": "{}"}}]`
	for _, c := range []struct {
		name, api, body string
		want            record.Record
	}{
		{"a completion", "", `{"choices":[{"index":0,"text":"Hi\n","finish_reason":"length"},{"index":1,"text":"no"}],` + wholeUsage + `}`, with("Hi\n", "length", "", "")},
		{"a reason that is an object", "", `{"choices":[{"text":"Hi","finish_reason":{"type":"length"}}],` + wholeUsage + `}`, with("Hi", "length", "", "")},
		{"a chat", "chat", `{"choices":[{"message":{"role":"assistant","content":"Hi","reasoning":"So"},"finish_reason":"stop"}],` + wholeUsage + `}`, with("Hi", "stop", "", "")},
		{"a call", "chat", `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get","arguments":"{}"}}]},"finish_reason":"tool_calls"}],` + wholeUsage + `}`,
			with("", "tool_calls", call, "")},
		{"no usage", "chat", `{"choices":[{"message":{"content":"Hi"}}],"metrics":{"queue_time_ms":2}}`,
			record.Record{Answer: record.Answer{Text: "Hi", Unstreamed: true}, Tokens: record.Tokens{Out: 1}, Server: &record.ServerTimes{QueueMS: new(2.0)}}},
		{"a transcription", "audio", `{"text":"Hi"}`, record.Record{Answer: record.Answer{Text: "Hi", Unstreamed: true}, Tokens: record.Tokens{Out: 1}}},
		{"a response", "responses", `{"id":"resp_1","status":"completed","output":[{"type":"reasoning","content":[{"type":"reasoning_text","text":"So"}]},{"type":"message","content":[{"type":"output_text","text":"H"},{"type":"output_text","text":"i"}]}],"usage":{"input_tokens":11,"output_tokens":7,"input_tokens_details":{"cached_tokens":8},"output_tokens_details":{"reasoning_tokens":2}}}`,
			with("Hi", "completed", "", "resp_1")},
		{"a message", "messages", `{"type":"message","content":[{"type":"thinking","thinking":"So"},{"type":"text","text":"Hi"},{"type":"tool_use","id":"call_1","name":"get","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":7,"cache_read_input_tokens":8,"cache_creation_input_tokens":0}}`,
			record.Record{Tokens: record.Tokens{In: 11, Out: 7, Cached: 8}, Answer: record.Answer{Unstreamed: true, Text: "Hi", Finish: "tool_use", Calls: json.RawMessage(call)}}},
		{"a cut response with a call", "responses", `{"id":"resp_1","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"function_call","call_id":"call_1","name":"get","arguments":"{}"}],"usage":{"input_tokens":11,"output_tokens":7,"input_tokens_details":{"cached_tokens":8},"output_tokens_details":{"reasoning_tokens":2}}}`,
			with("", "max_output_tokens", call, "resp_1")},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &exchange.Endpoint{URL: "http://server.test/v1/" + c.api, Protocol: protocolNamed(c.api), OneJSON: true, Transport: unstreamed(c.body)}
			target := engine.Target{Send: o.Send}
			rec := target.Once(t.Context(), &engine.Request{KeepAnswer: true})
			if rec.Result.Class != record.OK || rec.Answer.Chunks.Len() != 1 || rec.Times.FirstContent == 0 || rec.E2EL() <= 0 {
				t.Fatalf("%s: %s, %d chunks, content at %v, E2EL %v", rec.Result.Class, rec.Result.Error, rec.Answer.Chunks.Len(), rec.Times.FirstContent, rec.E2EL())
			}
			got := record.Record{Answer: record.Answer{Text: rec.Answer.Text, Finish: rec.Answer.Finish, Reply: rec.Answer.Reply, Calls: rec.Answer.Calls, Unstreamed: rec.Answer.Unstreamed}, Tokens: record.Tokens{In: rec.Tokens.In, Out: rec.Tokens.Out, Cached: rec.Tokens.Cached, OutReasoned: rec.Tokens.OutReasoned}, Server: rec.Server}
			if !cmp.Equal(c.want.Server, got.Server) {
				t.Errorf("server's times %+v", got.Server)
			}
			c.want.Server, got.Server = nil, nil
			if diff := cmp.Diff(fmt.Sprintf("%+v", c.want), fmt.Sprintf("%+v", got)); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFailedAnswersThatAreNotStreamedHaveAClass(t *testing.T) {
	for _, c := range []struct {
		api, body, error string
		class            record.Class
	}{
		{"chat", `{"choices":[]}`, "the answer has no output", record.Empty},
		{"chat", `{"object":"error","message":"out of blocks","code":500}`, "out of blocks", record.InStream},
		{"chat", `{"choices":[{"message":{"content":"H"},"finish_reason":"abort"}]}`, "its finish reason is abort", record.Unfinished},
		{"chat", "data: {}\n\n", "the answer is not JSON", record.Malformed},
		{"chat", `{"choices":[`, "the answer is not JSON", record.Malformed},
		{"responses", `{"status":"failed","error":{"message":"out of blocks"}}`, "out of blocks", record.InStream},
		{"responses", `{"status":"cancelled"}`, "its status is cancelled", record.InStream},
		{"responses", `{}`, "the answer has no output", record.Empty},
	} {
		o := &exchange.Endpoint{URL: "http://server.test/v1/x", Protocol: protocolNamed(c.api), OneJSON: true, Transport: unstreamed(c.body)}
		var failure *record.Failure
		for _, err := range o.Send(t.Context(), time.Now(), &engine.Request{}, &record.Record{}) {
			failure, _ = errors.AsType[*record.Failure](err)
		}
		if failure == nil || failure.Class != c.class || !strings.Contains(failure.Error(), c.error) {
			t.Errorf("%s: %v; want %s: %s", c.body, failure, c.class, c.error)
		}
	}
}

// What is an answer, or is not, never panics.
func FuzzWholeAnswer(f *testing.F) {
	f.Add([]byte(`{"choices":[{"message":{"content":"Hi","tool_calls":[{}]},"finish_reason":"stop"}],`+wholeUsage+`}`), true)
	f.Add([]byte(`{"id":"r","status":"completed","output":[{"type":"function_call","call_id":"c"}]}`), false)
	f.Fuzz(func(t *testing.T, body []byte, talk bool) {
		rec := &record.Record{Times: record.Times{Last: 1}}
		err := exchange.Answered(&exchange.Endpoint{Protocol: map[bool]*exchange.Protocol{true: chat.Protocol, false: responses.Protocol}[talk]}, &engine.Request{KeepAnswer: true}, rec, body)
		if err == nil && rec.Tokens.Out < 0 {
			t.Errorf("%d tokens", rec.Tokens.Out)
		}
	})
}
