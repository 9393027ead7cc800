package messages_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/messages"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/record"
)

// A turn of a chat becomes a body of the Messages API.
func ExampleEncoder() {
	encode := messages.Encoder(&request.Body{Model: "m"})
	body, err := encode(&dataset.Turn{Messages: json.RawMessage(`[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]`), OutputLen: 9}, "")
	fmt.Println(string(body), err)
	// Output:
	// {"model": "m", "system": "Be brief.", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 9, "stream": true} <nil>
}

func TestPromptsBecomeMessages(t *testing.T) {
	jpeg := json.RawMessage(`{"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,/9j/"}}`)
	asUser := `{"role": "user", "content": [{"type": "text", "text": "Hi"}`
	const block = `{"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "/9j/"}}`
	for _, c := range []struct {
		name string
		turn dataset.Turn
		want string // after the model
	}{
		{"a prompt", dataset.Turn{Prompt: "Hi"}, `"messages": [` + asUser + `]}]`},
		{"an image", dataset.Turn{Prompt: "Hi", Payload: &dataset.Payload{Media: []dataset.Medium{{Kind: dataset.Image, Part: jpeg}}}}, `"messages": [` + asUser + `, ` + block + `]}]`},
		{"an image by its URL", dataset.Turn{Prompt: "Hi", Payload: &dataset.Payload{Media: []dataset.Medium{{Kind: dataset.Image, Part: json.RawMessage(`{"type": "image_url", "image_url": {"url": "http://a/b.png"}}`)}}}},
			`"messages": [` + asUser + `, {"type": "image", "source": {"type": "url", "url": "http://a/b.png"}}]}]`},
		{"parts", dataset.Turn{Payload: &dataset.Payload{Content: json.RawMessage(`[` + string(jpeg) + `, {"type": "text", "text": "a"}, {"type": "other"}]`)}},
			`"messages": [{"role": "user", "content": [` + block + `, {"type": "text", "text": "a"}, {"type": "other"}]}]`},
		{"several messages of the system", chat(`[{"role":"system","content":"a"},{"role":"developer","content":[{"type":"text","text":"b"}]},{"role":"user","content":"Hi"},{"role":"system","content":"c"}]`),
			`"system": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "messages": [{"role": "user", "content": "Hi"}, {"role": "user", "content": "c"}]`},
		{"calls and results", chat(`[{"role":"user","content":"Hi"},
			{"role":"assistant","content":"I look.","reasoning":"So","tool_calls":[{"id":"c1","type":"function","function":{"name":"get","arguments":"{\"a\": 1}"}},{"id":"c2","type":"function","function":{"name":"now","arguments":""}}]},
			{"role":"tool","tool_call_id":"c1","content":"x"},{"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"y"}]},{"role":"user","content":"And?"},
			{"role":"assistant","content":null,"tool_calls":[{"id":"c3","type":"function","function":{"name":"get","arguments":"{\"a"}}]},{"role":"tool","tool_call_id":"c3","content":"z"}]`),
			`"messages": [{"role": "user", "content": "Hi"}, ` +
				`{"role": "assistant", "content": [{"type": "thinking", "thinking": "So", "signature": ""}, {"type": "text", "text": "I look."}, {"type": "tool_use", "id": "c1", "name": "get", "input": {"a": 1}}, {"type": "tool_use", "id": "c2", "name": "now", "input": {}}]}, ` +
				`{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "x"}, {"type": "tool_result", "tool_use_id": "c2", "content": [{"type": "text", "text": "y"}]}]}, {"role": "user", "content": "And?"}, ` +
				`{"role": "assistant", "content": [{"type": "tool_use", "id": "c3", "name": "get", "input": {"arguments": "{\"a"}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c3", "content": "z"}]}]`},
		{"messages of this API", chat(`[{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"get","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"x"}]}]`),
			`"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "get", "input": {}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "x"}]}]`},
	} {
		c.turn.OutputLen = 9
		body, err := messages.Encoder(&request.Body{Model: "m"})(&c.turn, "")
		if want := `{"model": "m", ` + c.want + `, "max_tokens": 9, "stream": true}`; err != nil || string(body) != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", c.name, body, err, want)
		}
	}
}

// chat is a turn with messages.
func chat(text string) dataset.Turn { return dataset.Turn{Messages: json.RawMessage(text)} }

func TestMembersOfAChatGetTheNamesOfTheAPI(t *testing.T) {
	extra, err := pyjson.Parse(`{"temperature": 0.5, "stop": "\n", "tools": [{"type": "function", "function": {"name": "get", "description": "d", "parameters": {"type": "object"}}}, {"type": "function", "function": {"name": "now"}}, {"name": "own", "input_schema": {}}], "tool_choice": "required"}`)
	if err != nil {
		t.Fatal(err)
	}
	settings := &request.Body{Model: "m", IgnoreEOS: true, Extra: extra.(pyjson.Object)}
	for members, want := range map[string]string{
		`{}`: `{"type": "any"}`, `{"tool_choice": "auto"}`: `{"type": "auto"}`, `{"tool_choice": {"type": "none"}}`: `{"type": "none"}`,
		`{"tool_choice": {"type": "function", "function": {"name": "get"}}}`: `{"type": "tool", "name": "get"}`, `{"tool_choice": "odd"}`: `"odd"`,
	} {
		turn := dataset.Turn{Prompt: "Hi", OutputLen: 9, Payload: &dataset.Payload{Members: json.RawMessage(members)}}
		body, err := messages.Encoder(settings)(&turn, "")
		want := `{"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}], "max_tokens": 9, "stream": true, "ignore_eos": true, "temperature": 0.5, "stop_sequences": ["\n"], ` +
			`"tools": [{"name": "get", "description": "d", "input_schema": {"type": "object"}}, {"name": "now", "input_schema": {"type": "object"}}, {"name": "own", "input_schema": {}}], "tool_choice": ` + want + `}`
		if err != nil || string(body) != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", members, body, err, want)
		}
	}
}

func TestWhatTheAPICannotTakeIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		turn dataset.Turn
		want string
	}{
		"no bound":     {dataset.Turn{Prompt: "Hi"}, "needs a bound on each answer"},
		"token ids":    {dataset.Turn{TokenIDs: []int{1}, OutputLen: 1}, "takes no token ids"},
		"sound":        {dataset.Turn{Prompt: "Hi", OutputLen: 1, Payload: &dataset.Payload{Media: []dataset.Medium{{Kind: dataset.Sound, Part: json.RawMessage(`{"type": "input_audio", "input_audio": {}}`)}}}}, "no input_audio"},
		"no list":      {dataset.Turn{Messages: json.RawMessage(`{}`), OutputLen: 1}, "no list"},
		"no object":    {dataset.Turn{Messages: json.RawMessage(`[1]`), OutputLen: 1}, "message 1 is no object"},
		"no JSON":      {dataset.Turn{Messages: json.RawMessage(`[`), OutputLen: 1}, "reading messages"},
		"several":      {dataset.Turn{OutputLen: 1, Payload: &dataset.Payload{Batch: []string{"a", "b"}}}, "one prompt in a request"},
		"wrong member": {dataset.Turn{Prompt: "Hi", OutputLen: 1, Payload: &dataset.Payload{Members: json.RawMessage(`[]`)}}, "no object"},
	} {
		if _, err := messages.Encoder(&request.Body{Model: "m"})(&c.turn, ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	bounded := &request.Body{Model: "m", Extra: pyjson.Object{{Key: "max_tokens", Value: 7}}}
	if body, err := messages.Encoder(bounded)(&dataset.Turn{Prompt: "Hi"}, ""); err != nil || !strings.Contains(string(body), `"max_tokens": 7`) {
		t.Errorf("a bound by the settings: %s, %v", body, err)
	}
}

// tripper answers with an empty 404, and keeps the headers that were sent.
type tripper struct{ sent http.Header }

func (s *tripper) RoundTrip(r *http.Request) (*http.Response, error) {
	s.sent = r.Header
	return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

func TestRequestsNameTheVersionOfTheAPI(t *testing.T) {
	for given, want := range map[string]string{"": "2023-06-01", "2024-01-01": "2024-01-01"} {
		var server tripper
		header := exchange.Headers("", nil)
		if given != "" {
			header.Set("Anthropic-Version", given)
		}
		send := messages.Sender(&exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test/v1/messages", Header: header, Transport: &server})
		for range send(t.Context(), time.Now(), &engine.Request{Body: []byte("{}")}, new(record.Record)) {
		}
		if got := server.sent.Get("Anthropic-Version"); got != want || header.Get("Anthropic-Version") != given {
			t.Errorf("%q becomes %q, want %q; the caller's header has %q", given, got, want, header.Get("Anthropic-Version"))
		}
	}
}

// Whatever the messages, a body is JSON, and its messages are a list.
func FuzzEncoder(f *testing.F) {
	for _, text := range []string{`[]`, `[{"role":"tool"},{"role":"tool","content":[1]}]`, `[{"role":"assistant","tool_calls":[7,{}]}]`, `[{"content":[{"type":"image_url","image_url":"data:x"}]}]`, `[{"role":"system","content":7},{"role":"system"}]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		body, err := messages.Encoder(&request.Body{Model: "m"})(&dataset.Turn{Messages: text, OutputLen: 1}, "")
		var got struct{ Messages []any }
		if err == nil && (!json.Valid(body) || json.Unmarshal(body, &got) != nil) {
			t.Errorf("%s becomes %s", text, body)
		}
	})
}

func TestTheVersionIsAHeaderUnlessOneIsGiven(t *testing.T) {
	for given, want := range map[string]string{"": "2023-06-01", "2030-01-01": "2030-01-01"} {
		var to exchange.Endpoint // without headers
		if given != "" {
			to.Header = http.Header{"Anthropic-Version": {given}}
		}
		messages.Sender(&to)
		if got := to.Header.Get("Anthropic-Version"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
