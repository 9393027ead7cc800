package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics/pyjson"
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
			o := &Endpoint{URL: "http://server.test/v1/responses", Protocol: Responses, Transport: responseOfEvents(c.events...)}
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
			if answer := string(Answer(rec)); answer != c.answer {
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
		{"nothing", nil, record.Empty, neverDelta},
		{"no output", []string{responseEnd}, record.Empty, neverDelta},
		{"failed", []string{responseText, `{"type":"response.failed","response":{"id":"r","error":{"code":"server_error","message":"boom"}}}`}, record.InStream, "boom"},
		{"error", []string{responseText, `{"type":"error","code":"x","message":"boom"}`}, record.InStream, "boom"},
		{"error object", []string{`{"error":{"message":"boom"}}`}, record.InStream, "boom"},
		{"an error, then the end", []string{responseText, `{"type":"error","error":{"message":"boom"}}`, responseEnd}, record.InStream, "boom"},
		{"no JSON", []string{`hello`}, record.Malformed, `an event is not JSON: "hello"`},
	} {
		raw := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n%s", responseOfEvents(c.events...))
		o := openAIAt(dialRaw([]byte(raw)), false)
		o.Protocol = Responses
		if got, _ := ask(t, o); got.Class != c.class || got.Error != c.message {
			t.Errorf("%s: class %q, error %q, want %q, %q", c.name, got.Class, got.Error, c.class, c.message)
		}
	}
}

func TestAnEventOfAResponseDoesNotAllocate(t *testing.T) {
	p := piece{api: Responses}
	for _, event := range []string{responseText, responseThink, responseArgs, responseItem, `{"type":"response.output_text.delta","delta":"a\n\u00e9"}`} {
		data := []byte(event)
		if err := p.read(data); err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { _ = p.read(data) }); n != 0 {
			t.Errorf("%s takes %v allocations", event, n)
		}
	}
}

func FuzzResponseEvent(f *testing.F) {
	for _, event := range []string{responseText, responseThink, responseArgs, responseCall, responseEnd, responseShort, `{"type":"error","error":{"message":"boom"}}`, `{"type":1,"delta":[{}]}`, `{"type":"response.output_text.delta","delta":"\ud83d"}`} {
		f.Add([]byte(event))
	}
	f.Fuzz(func(t *testing.T, event []byte) {
		// A second member makes the scan unsure, so that encoding/json reads the event.
		p, other := piece{api: Responses}, piece{api: Responses}
		err := p.read(event)
		if !json.Valid(event) || !strings.HasPrefix(string(event), "{") || len(event) < 3 {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", event, err)
		}
		twice := append([]byte(`{"X":1,`), event[1:]...)
		if !json.Valid(twice) {
			return
		}
		if err := other.read(twice); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p.said(), other.said()); diff != "" {
			t.Errorf("%s (-scanned +decoded):\n%s", event, diff)
		}
	})
}

func TestResponsesAreAskedFor(t *testing.T) {
	body := Body{Model: "m", Protocol: Responses, IgnoreEOS: true, Drop: []string{"store"}, Extra: pyjson.Object{{Key: "top_k", Value: 3}}}
	for _, c := range []struct{ messages, input string }{
		{``, `"Hi"`},
		{`[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:x"}},{"type":"other"}]}]`,
			`[{"role": "system", "content": "Be brief."}, {"role": "user", "content": [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "data:x"}, {"type": "other"}]}]`},
		{`[{"role":"assistant","content":[{"type":"text","text":"a"}],"id":"resp_1"},{"role":"user","content":""}]`,
			`[{"role": "assistant", "content": [{"type": "output_text", "text": "a"}]}, {"role": "user", "content": ""}]`},
		{`[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"42"}]`,
			`[{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}, {"type": "function_call_output", "call_id": "c", "output": "42"}]`},
		{`[{"role":"assistant","content":"Wait.","tool_calls":[{"id":"c","function":{"name":"f","arguments":""}}]}]`,
			`[{"role": "assistant", "content": "Wait."}, {"type": "function_call", "call_id": "c", "name": "f", "arguments": ""}]`},
	} {
		turn := dataset.Turn{Prompt: "Hi", OutputLen: 5}
		if c.messages != "" {
			turn.Messages = json.RawMessage(c.messages)
		}
		text, err := body.Encoder()(&turn)
		if want := `{"model": "m", "input": ` + c.input + `, "max_output_tokens": 5, "stream": true, "ignore_eos": true, "top_k": 3}`; err != nil || string(text) != want {
			t.Errorf("%v\n got %s\nwant %s", err, text, want)
		}
	}
	for _, turn := range []dataset.Turn{{TokenIDs: []int{1}}, {Messages: json.RawMessage(`{}`)}, {Messages: json.RawMessage(`[1]`)}, {Messages: json.RawMessage(`[`)}} {
		if text, err := body.Encode(&turn); err == nil {
			t.Errorf("%+v makes %s", turn, text)
		}
	}
}

func TestResponsesGoOnFromTheServersHistory(t *testing.T) {
	body := Body{Model: "m", Protocol: Responses, Store: true}
	turn := dataset.Turn{Messages: json.RawMessage(`[{"role": "user", "content": "On"}]`)}
	text, err := body.EncodeAfter(&turn, Answer(&record.Record{Answer: record.Answer{Text: "So", Reply: "resp_1"}}))
	if want := `{"model": "m", "input": [{"role": "user", "content": "On"}], "stream": true, "store": true, "previous_response_id": "resp_1"}`; err != nil || string(text) != want {
		t.Errorf("%v\n got %s\nwant %s", err, text, want)
	}
	if _, err := body.EncodeAfter(&turn, Answer(&record.Record{Answer: record.Answer{Text: "So"}})); err == nil {
		t.Error("an answer without an id can be gone on from")
	}
}
