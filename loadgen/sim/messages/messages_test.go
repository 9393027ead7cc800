package messages

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A chat answers every request with the same stream, and keeps what it was asked.
type chat struct {
	asked  map[string]json.RawMessage
	status int
	stream string
}

func (c *chat) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.asked = nil
	_ = json.Unmarshal(body, &c.asked)
	w.WriteHeader(c.status)
	_, _ = io.WriteString(w, c.stream)
}

// talk sends a request and returns the status and the answer.
func talk(h http.Handler, body string) (status int, text string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", "/v1/messages", strings.NewReader(body)))
	return w.Code, w.Body.String()
}

// streamOf is a chat's stream of these chunks.
func streamOf(chunks ...string) string {
	return "data: " + strings.Join(append(chunks, "[DONE]"), "\n\ndata: ") + "\n\n"
}

// data are the data of the events in a stream whose names are the types of the data.
func data(t *testing.T, stream string) []string {
	t.Helper()
	var all []string
	for event := range strings.SplitSeq(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		name, data, _ := strings.Cut(strings.TrimPrefix(event, "event: "), "\ndata: ")
		if !strings.Contains(data, `"type":"`+name+`"`) {
			t.Errorf("an event %q has the data %s", name, data)
		}
		all = append(all, data)
	}
	return all
}

func TestChatsBecomeMessages(t *testing.T) {
	const (
		role   = `{"id":"chatcmpl-7","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}],"usage":{"prompt_tokens":5,"completion_tokens":0}}`
		think  = `{"id":"chatcmpl-7","choices":[{"index":0,"delta":{"reasoning":"So"}}]}`
		hello  = `{"id":"chatcmpl-7","choices":[{"index":0,"delta":{"content":"Hi"}}]}`
		call   = `{"id":"chatcmpl-7","choices":[{"index":0,"delta":{"tool_calls":[{"id":"c1","function":{"name":"get","arguments":""}}]}}]}`
		args   = `{"id":"chatcmpl-7","choices":[{"index":0,"delta":{"tool_calls":[{"function":{"arguments":"{}"}}]}}]}`
		stop   = `{"id":"chatcmpl-7","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
		length = `{"id":"chatcmpl-7","choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`
		counts = `{"id":"chatcmpl-7","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}`

		start = `{"message":{"content":[],"id":"msg_7","model":"m","role":"assistant","stop_reason":null,"stop_sequence":null,"type":"message","usage":{"input_tokens":5,"output_tokens":0}},"type":"message_start"}`
		said  = `{"delta":{"text":"Hi","type":"text_delta"},"index":0,"type":"content_block_delta"}`
		text0 = `{"content_block":{"text":"","type":"text"},"index":0,"type":"content_block_start"}`
		stop0 = `{"index":0,"type":"content_block_stop"}`
		end   = `{"type":"message_stop"}`
	)
	for name, c := range map[string]struct {
		stream string
		want   []string
	}{
		"text": {streamOf(role, hello, hello, stop, counts), []string{start, text0, said, said, stop0,
			`{"delta":{"stop_reason":"end_turn","stop_sequence":null},"type":"message_delta","usage":{"cache_read_input_tokens":4,"input_tokens":1,"output_tokens":2}}`, end}},
		"reasoning, text and a call": {streamOf(role, think, hello, call, args, stop), []string{start,
			`{"content_block":{"thinking":"","type":"thinking"},"index":0,"type":"content_block_start"}`, `{"delta":{"thinking":"So","type":"thinking_delta"},"index":0,"type":"content_block_delta"}`,
			`{"delta":{"signature":"simulated","type":"signature_delta"},"index":0,"type":"content_block_delta"}`, stop0,
			strings.Replace(text0, `:0`, `:1`, 1), strings.Replace(said, `:0`, `:1`, 1), strings.Replace(stop0, `:0`, `:1`, 1),
			`{"content_block":{"id":"c1","input":{},"name":"get","type":"tool_use"},"index":2,"type":"content_block_start"}`,
			`{"delta":{"partial_json":"{}","type":"input_json_delta"},"index":2,"type":"content_block_delta"}`, strings.Replace(stop0, `:0`, `:2`, 1),
			`{"delta":{"stop_reason":"tool_use","stop_sequence":null},"type":"message_delta","usage":{"input_tokens":5,"output_tokens":0}}`, end}},
		"cut at its length": {streamOf(role, hello, length), []string{start, text0, said, stop0,
			`{"delta":{"stop_reason":"max_tokens","stop_sequence":null},"type":"message_delta","usage":{"input_tokens":5,"output_tokens":0}}`, end}},
		"an error": {streamOf(role, hello, `{"error":{"message":"boom"}}`), []string{start, text0, said, `{"error":{"message":"boom"},"type":"error"}`}},
	} {
		status, got := talk(&Handler{Chat: &chat{status: 200, stream: c.stream}}, `{"messages":[],"max_tokens":1,"stream":true}`)
		if events := data(t, got); status != 200 || strings.Join(events, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s: status %d\n got %s\nwant %s", name, status, strings.Join(events, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

func TestMessagesBecomeAChat(t *testing.T) {
	c := &chat{status: 200}
	_, got := talk(&Handler{Chat: c}, `{"model":"m","system":"Be brief.","messages":[{"role":"user","content":"Hi"},
		{"role":"assistant","content":[{"type":"thinking","thinking":"So"},{"type":"text","text":"I look."},{"type":"tool_use","id":"c1","name":"get","input":{"a":1}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"x"}]},
		{"role":"user","content":[{"type":"text","text":"This?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}},{"type":"image","source":{"type":"url","url":"http://a"}}]}],
		"max_tokens":9,"stop_sequences":["a"],"stream":true,"ignore_eos":true,"temperature":0.5,"tools":[{"name":"get","input_schema":{}}],"tool_choice":{"type":"any"}}`)
	for member, want := range map[string]string{
		"messages": `[{"content":"Be brief.","role":"system"},{"content":"Hi","role":"user"},` +
			`{"content":[{"text":"I look.","type":"text"}],"role":"assistant","tool_calls":[{"function":{"arguments":"{\"a\":1}","name":"get"},"id":"c1","type":"function"}]},` +
			`{"content":"x","role":"tool","tool_call_id":"c1"},` +
			`{"content":[{"text":"This?","type":"text"},{"image_url":{"url":"data:image/png;base64,AA=="},"type":"image_url"},{"image_url":{"url":"http://a"},"type":"image_url"}],"role":"user"}]`,
		"max_completion_tokens": "9", "stop": `["a"]`, "ignore_eos": "true", "temperature": "0.5", "model": `"m"`, "max_tokens": "", "system": "", "tool_choice": "",
		"tools": `[{"function":{"description":"","name":"get","parameters":{}},"type":"function"}]`, "stream_options": `{"continuous_usage_stats":true,"include_usage":true}`,
	} {
		if string(c.asked[member]) != want {
			t.Errorf("%s\n got %s\nwant %s", member, c.asked[member], want)
		}
	}
	if got != "" {
		t.Errorf("an empty stream becomes %s", got)
	}
}

func TestChatsThatAreNotStreamedBecomeMessages(t *testing.T) {
	c := &chat{status: 200, stream: `{"id":"chatcmpl-7","model":"m","choices":[{"message":{"content":"Hi","reasoning":"So","tool_calls":[{"id":"c1","function":{"name":"get","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`}
	want := `{"content":[{"signature":"simulated","thinking":"So","type":"thinking"},{"text":"Hi","type":"text"},{"id":"c1","input":{},"name":"get","type":"tool_use"}],"id":"msg_7","model":"m","role":"assistant","stop_reason":"tool_use","stop_sequence":null,"type":"message","usage":{"input_tokens":5,"output_tokens":2}}`
	if status, got := talk(&Handler{Chat: c}, `{"messages":[],"max_tokens":1}`); status != 200 || got != want || c.asked["stream_options"] != nil {
		t.Errorf("status %d\n got %s\nwant %s", status, got, want)
	}
	c = &chat{status: 503, stream: `{"error":{"message":"busy"}}`}
	if status, got := talk(&Handler{Chat: c}, `{"messages":[],"max_tokens":1}`); status != 503 || got != c.stream {
		t.Errorf("a refusal: %d %s", status, got)
	}
}

func TestRequestsThatAreNotSimulatedAreRefused(t *testing.T) {
	h := &Handler{Chat: &chat{status: 400, stream: `{"error":{"message":"too long"}}`}}
	for body, want := range map[string]string{
		`{`:                  "the body is no request",
		`{"max_tokens":"a"}`: "the body is no request",
		`{"stream":true}`:    "max_tokens must be given",
		`{"max_tokens":1,"stream":true,"messages":[{"content":[1]}]}`:                "a list of blocks",
		`{"max_tokens":1,"stream":true,"messages":[{"content":[{"type":"other"}]}]}`: "type \\\"other\\\"",
		`{"max_tokens":1,"stream":true,"messages":[]}`:                               "too long",
	} {
		if status, got := talk(h, body); status != 400 || !strings.Contains(got, want) {
			t.Errorf("%s: %d %s, want %q", body, status, got, want)
		}
	}
}
