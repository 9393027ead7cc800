package exchange_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/responses"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
	"github.com/servebench/servebench/metrics/record"
)

// responseOfEvents is an answer of the Responses API, with the name of each event.
func responseOfEvents(events ...string) canned {
	var b strings.Builder
	for _, event := range events {
		var object struct{ Type string }
		_ = json.Unmarshal([]byte(event), &object)
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", object.Type, event)
	}
	return canned(b.String())
}

const (
	responseText  = `{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hi","logprobs":[],"sequence_number":4}`
	responseThink = `{"type":"response.reasoning_text.delta","item_id":"rs_1","delta":"So"}`
	responseArgs  = `{"type":"response.function_call_arguments.delta","item_id":"fc_1","delta":"{}"}`
	responseCall  = `{"type":"response.output_item.done","output_index":1,"item":{"id":"fc_1","type":"function_call","status":"completed","arguments":"{}","call_id":"call_1","name":"get"}}`
	responseItem  = `{"type":"response.output_item.done","output_index":0,"item":{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"Hi"}]}}`
	responseEnd   = `{"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[],"usage":{"input_tokens":11,"input_tokens_details":{"cached_tokens":8},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":2},"total_tokens":18}}}`
	responseShort = `{"type":"response.incomplete","response":{"id":"resp_1","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"usage":{"input_tokens":11,"output_tokens":7,"total_tokens":18}}}`
)

func TestResponsesAreRead(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []string
		want   record.Record
		answer string
	}{
		{"text", []string{`{"type":"response.created","response":{"id":"resp_0","status":"in_progress"}}`, responseText, responseText, responseItem, responseEnd},
			record.Record{Answer: record.Answer{Text: "HiHi", Finish: "completed", Reply: "resp_1"}, Tokens: record.Tokens{In: 11, Out: 7, Cached: 8}},
			`{"role": "assistant", "content": "HiHi", "id": "resp_1"}`},
		{"reasoning", []string{responseThink, responseText, responseShort},
			record.Record{Answer: record.Answer{Text: "Hi", Finish: "max_output_tokens", Reply: "resp_1"}, Tokens: record.Tokens{In: 11, Out: 7}},
			`{"role": "assistant", "content": "Hi", "id": "resp_1"}`},
		{"a call", []string{responseArgs, responseCall, responseEnd},
			record.Record{Answer: record.Answer{Finish: "completed", Reply: "resp_1",
				Calls: json.RawMessage(`[{"id": "call_1", "type": "function", "function": {"name": "get", "arguments": "{}"}}]`)}, Tokens: record.Tokens{In: 11, Out: 7, Cached: 8}, Result: record.Result{Differs: record.DiffersOutput}},
			`{"role": "assistant", "content": null, "id": "resp_1", "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "get", "arguments": "{}"}}]}`},
		{"an end without a response", []string{responseText, `{"type":"response.completed"}`}, record.Record{Answer: record.Answer{Text: "Hi", Finish: "completed"}, Tokens: record.Tokens{In: 3}},
			`{"role": "assistant", "content": "Hi"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &exchange.Endpoint{URL: "http://server.test/v1/responses", Protocol: responses.Protocol, Transport: responseOfEvents(c.events...)}
			rec := &record.Record{Tokens: record.Tokens{In: 3}}
			for _, err := range o.Send(t.Context(), time.Now(), &engine.Request{KeepAnswer: true}, rec) {
				if err != nil {
					t.Fatal(err)
				}
			}
			got := record.Record{Answer: record.Answer{Text: rec.Answer.Text, Finish: rec.Answer.Finish, Reply: rec.Answer.Reply, Calls: rec.Answer.Calls}, Tokens: record.Tokens{In: rec.Tokens.In, Out: rec.Tokens.Out, Cached: rec.Tokens.Cached}, Result: record.Result{Differs: rec.Result.Differs}}
			if diff := cmp.Diff(fmt.Sprintf("%+v", c.want), fmt.Sprintf("%+v", got)); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
			if answer := string(exchange.Answer(rec)); answer != c.answer {
				t.Errorf("answer\n got %s\nwant %s", answer, c.answer)
			}
		})
	}
}

func TestFailedResponsesHaveAClass(t *testing.T) {
	for _, c := range []struct {
		name    string
		events  []string
		class   record.Class
		message string
	}{
		{"no end", []string{responseText}, record.Truncated, "the stream ended without response.completed"},
		{"nothing", nil, record.Empty, "Never received a token delta to calculate TTFT.This response will be marked as failed!"},
		{"no output", []string{responseEnd}, record.Empty, "Never received a token delta to calculate TTFT.This response will be marked as failed!"},
		{"failed", []string{responseText, `{"type":"response.failed","response":{"id":"r","error":{"code":"server_error","message":"boom"}}}`}, record.InStream, "boom"},
		{"error", []string{responseText, `{"type":"error","code":"x","message":"boom"}`}, record.InStream, "boom"},
		{"error object", []string{`{"error":{"message":"boom"}}`}, record.InStream, "boom"},
		{"an error, then the end", []string{responseText, `{"type":"error","error":{"message":"boom"}}`, responseEnd}, record.InStream, "boom"},
		{"no JSON", []string{`hello`}, record.Malformed, `an event is not JSON: "hello"`},
	} {
		raw := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n%s", responseOfEvents(c.events...))
		o := openAIAt(wiretest.DialRaw([]byte(raw)), false)
		o.Protocol = responses.Protocol
		if got, _ := ask(t, o); got.Class != c.class || got.Error != c.message {
			t.Errorf("%s: class %q, error %q, want %q, %q", c.name, got.Class, got.Error, c.class, c.message)
		}
	}
}
