package exchange_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/api/chat"
	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
	"github.com/servebench/servebench/metrics/record"
)

// chatOf is a chat's answer of chunks with these deltas.
func chatOf(deltas ...string) canned {
	var b strings.Builder
	for _, delta := range deltas {
		fmt.Fprintf(&b, "data: {\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":null}]}\n\n", delta)
	}
	return canned(b.String() + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n" + doneEvent)
}

// told is the record of one request with an answer of events.
func told(t *testing.T, o *exchange.Endpoint, req *engine.Request) *record.Record {
	t.Helper()
	rec := new(record.Record)
	for _, err := range o.Send(t.Context(), time.Now(), req, rec) {
		if err != nil {
			t.Fatal(err)
		}
	}
	return rec
}

func TestAnswerGoesOnInTheNextTurn(t *testing.T) {
	const first = `{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get","arguments":""}}]}`
	for _, c := range []struct {
		name   string
		deltas []string
		want   string
	}{
		{"text", []string{`{"role":"assistant","content":""}`, `{"content":"Hé"}`, `{"content":"\n\"you\""}`},
			`{"role": "assistant", "content": "H\u00e9\n\"you\""}`},
		{"nothing", []string{`{"role":"assistant","content":""}`}, `{"role": "assistant", "content": ""}`},
		{"reasoning is dropped", []string{`{"reasoning":"So"}`, `{"reasoning_content":" it"}`, `{"content":"is"}`},
			`{"role": "assistant", "content": "is"}`},
		{"a call in pieces", []string{first, `{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]}`, `{"tool_calls":[{"index":0,"function":{"arguments":": 1}"}}]}`},
			`{"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "get", "arguments": "{\"a\": 1}"}}]}`},
		{"text, then two calls in turns", []string{`{"content":"Wait."}`, first,
			`{"tool_calls":[{"index":1,"id":"call_2","function":{"name":"put","arguments":"{"}},{"index":0,"function":{"arguments":"["}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"]"}},{"index":1,"function":{"arguments":"}"}}]}`},
			`{"role": "assistant", "content": "Wait.", "tool_calls": [` +
				`{"id": "call_1", "type": "function", "function": {"name": "get", "arguments": "[]"}}, ` +
				`{"id": "call_2", "type": "function", "function": {"name": "put", "arguments": "{}"}}]}`},
		{"whole calls of one index", []string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"1"}},{"index":0,"id":"b","function":{"name":"g","arguments":"2"}}]}`},
			`{"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "1"}}, {"id": "b", "type": "function", "function": {"name": "g", "arguments": "2"}}]}`},
		{"no index", []string{
			`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"1"}}]}`, `{"tool_calls":[{"function":{"arguments":"2"}}]}`, `{"tool_calls":[{"id":"b","function":{"name":"g"}}]}`},
			`{"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "12"}}, {"id": "b", "type": "function", "function": {"name": "g", "arguments": ""}}]}`},
		{"id and name in every part", []string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"1"}}]}`, `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"2"}}]}`},
			`{"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "12"}}]}`},
		{"the same calls with another text", []string{
			`{"content":"a","tool_calls":[{"index":0,"id":"a","function":{"arguments":"1"}}]}`, `{"content":"b","tool_calls":[{"index":0,"id":"a","function":{"arguments":"1"}}]}`},
			`{"role": "assistant", "content": "ab", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "", "arguments": "11"}}]}`},
		{"no list", []string{`{"content":"a","tool_calls":{"id":"x"}}`}, `{"role": "assistant", "content": "a"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &exchange.Endpoint{URL: "http://server.test", Protocol: chat.Protocol, Transport: chatOf(append(c.deltas, `{"content":""}`)...)}
			rec := told(t, o, &engine.Request{KeepAnswer: true, NoText: true})
			got := exchange.Answer(rec)
			if string(got) != c.want {
				t.Errorf("answer\n got %s\nwant %s", got, c.want)
			}
			if !json.Valid(got) {
				t.Error("that is not JSON")
			}
			if rec := told(t, o, &engine.Request{KeepText: true}); rec.Answer.Calls != nil || rec.Answer.Reasoning != "" {
				t.Errorf("a request that asks for its text alone keeps calls %s and reasoning %q", rec.Answer.Calls, rec.Answer.Reasoning)
			}
		})
	}
}

func TestReasoningIsKeptOnRequest(t *testing.T) {
	o := &exchange.Endpoint{URL: "http://server.test", Protocol: chat.Protocol, Reasoning: true,
		Transport: chatOf(`{"reasoning":"So"}`, `{"reasoning":" it"}`, `{"reasoning":" is\n"}`, `{"content":"4"}`, `{"content":"2"}`)}
	rec := told(t, o, &engine.Request{KeepAnswer: true})
	if got, want := string(exchange.Answer(rec)), `{"role": "assistant", "content": "42", "reasoning": "So it is\n"}`; got != want {
		t.Errorf("answer\n got %s\nwant %s", got, want)
	}
}

func TestAnswerOfACompletionIsItsText(t *testing.T) {
	o := &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test", Transport: manyEvents(3)}
	rec := told(t, o, &engine.Request{KeepAnswer: true, NoText: true})
	if got, want := string(exchange.Answer(rec)), `{"role": "assistant", "content": " token token token"}`; !strings.HasPrefix(got, want[:len(want)-2]) {
		t.Errorf("answer %s, want %s", got, want)
	}
}

func TestEndlessCallsFail(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	deltas := make([]string, 20)
	for i := range deltas {
		deltas[i] = `{"tool_calls":[{"index":0,"function":{"arguments":"` + long + `"}}]}`
	}
	o := &exchange.Endpoint{URL: "http://server.test", Protocol: chat.Protocol, Transport: chatOf(deltas...)}
	for _, keep := range []bool{false, true} {
		rec, failed := new(record.Record), false
		for _, err := range o.Send(t.Context(), time.Now(), &engine.Request{KeepAnswer: keep}, rec) {
			if err != nil {
				class, _ := record.Classify(err)
				failed = class == record.Malformed
			}
		}
		if failed != keep {
			t.Errorf("20 MiB of arguments, kept %t: failed %t", keep, failed)
		}
	}
}

func TestSessionIsSentInItsHeader(t *testing.T) {
	var got http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(manyEvents(1))
	}))
	defer server.Close()
	transport := wire.Connections{NetHTTP: netHTTP}.Transport()
	defer transport.CloseIdleConnections()
	o := &exchange.Endpoint{Protocol: completions.Protocol, URL: server.URL, Transport: transport}
	told(t, o, &engine.Request{ID: "s-t1", Session: "s"})
	if id, session := got.Get("x-request-id"), got.Get("X-Session-ID"); id != "s-t1" || session != "s" {
		t.Errorf("request id %q, session %q", id, session)
	}
	o.SessionHeader = "X-Routing-Key"
	told(t, o, &engine.Request{Session: "s"})
	if got.Get("X-Routing-Key") != "s" || got.Get("X-Session-ID") != "" {
		t.Errorf("headers %v", got)
	}
	told(t, o, &engine.Request{})
	if _, sent := got["X-Routing-Key"]; sent {
		t.Errorf("a request without a session has headers %v", got)
	}
}

// overflowing are refusals of prompts that are too long, as servers word them, and others.
var overflowing = []struct {
	status int
	body   string
	want   record.Class
}{
	// vLLM
	{400, `{"error":{"message":"This model's maximum context length is 4096 tokens. However, you requested 5002 tokens (2 in the messages, 5000 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","param":null,"code":400}}`, record.Overflow},
	{400, `{"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 8000. This model's maximum context length is 4096 tokens and your request has 2778 input tokens (8000 > 4096 - 2778). None","type":"BadRequestError","param":null,"code":400}}`, record.Overflow},
	{400, `{"object":"error","message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that ` + "`max_model_len`" + ` is no smaller than the number of text tokens.","type":"BadRequestError","param":null,"code":400}`, record.Overflow},
	// SGLang
	{400, `{"object":"error","message":"The input (61709 tokens) is longer than the model's context length (40960 tokens).","type":"BadRequestError","param":null,"code":400}`, record.Overflow},
	{400, `{"object":"error","message":"Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens). Use a shorter input or enable --allow-auto-truncate.","type":"BadRequestError","param":null,"code":400}`, record.Overflow},
	// llama.cpp
	{400, `{"error":{"code":400,"message":"request (4476 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":4476,"n_ctx":4096}}`, record.Overflow},
	// OpenAI, both APIs
	{400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 140007 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, record.Overflow},
	{400, `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`, record.Overflow},
	{400, `{"error":{"message":"Too long.","type":"invalid_request_error","code":"context_length_exceeded"}}`, record.Overflow},
	// Hugging Face's text-generation-inference
	{422, `{"error":"Input validation error: ` + "`inputs` tokens + `max_new_tokens`" + ` must be <= 2048. Given: 2000 ` + "`inputs` tokens and 512 `max_new_tokens`" + `","error_type":"validation"}`, record.Overflow},
	// Anthropic
	{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}`, record.Overflow},
	// Ollama
	{400, `{"error":{"message":"the input length exceeds the context length","type":"api_error","param":null,"code":null}}`, record.Overflow},

	{400, `{"error":{"message":"Invalid 'tools' format","type":"invalid_request_error"}}`, record.Status},
	{422, `{"detail":[{"loc":["body","prompt"],"msg":"field required","input":"what is the maximum context length"}]}`, record.Status},
	{413, `<html><head><title>413 Request Entity Too Large</title></head></html>`, record.Status},
	{400, ``, record.Status},
	{500, `{"error":{"message":"maximum context length"}}`, record.Status},
	{429, `{"error":{"message":"too many tokens for the context window, slow down"}}`, record.Status},
}

func TestPromptsLongerThanTheContextHaveAClass(t *testing.T) {
	for _, c := range overflowing {
		reply := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Length: %d\r\n\r\n%s", c.status, http.StatusText(c.status), len(c.body), c.body)
		got, rec := ask(t, openAIAt(wiretest.DialRaw([]byte(reply)), true))
		if got.Class != c.want || rec.Result.Status != c.status {
			t.Errorf("%d %s\nclass %q, status %d, want %q", c.status, c.body, got.Class, rec.Result.Status, c.want)
		}
	}
}
