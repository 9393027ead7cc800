package responses

import (
	"encoding/json"
	"testing"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/record"
)

func TestResponsesAreAskedFor(t *testing.T) {
	body := request.Body{Model: "m", Form: Form, IgnoreEOS: true, Drop: []string{"store"}, Extra: pyjson.Object{{Key: "top_k", Value: 3}}}
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
		text, err := body.Encoder()(&turn, "")
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
	body := request.Body{Model: "m", Form: Form, Store: true}
	turn := dataset.Turn{Messages: json.RawMessage(`[{"role": "user", "content": "On"}]`)}
	text, err := After(&body, &turn, exchange.Answer(&record.Record{Answer: record.Answer{Text: "So", Reply: "resp_1"}}))
	if want := `{"model": "m", "input": [{"role": "user", "content": "On"}], "stream": true, "store": true, "previous_response_id": "resp_1"}`; err != nil || string(text) != want {
		t.Errorf("%v\n got %s\nwant %s", err, text, want)
	}
	if _, err := After(&body, &turn, exchange.Answer(&record.Record{Answer: record.Answer{Text: "So"}})); err == nil {
		t.Error("an answer without an id can be gone on from")
	}
}
