package responses

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A chat answers every request with the same stream, and keeps what it was asked.
type chat struct {
	asked  []map[string]json.RawMessage
	status int
	stream string
}

func (c *chat) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(body, &fields)
	c.asked = append(c.asked, fields)
	w.WriteHeader(c.status)
	for i := range len(c.stream) { // byte by byte
		_, _ = io.WriteString(w, c.stream[i:i+1])
	}
	_ = http.NewResponseController(w).Flush()
}

// talk sends a request and returns the status, and the events by type and what they say.
func talk(t *testing.T, h http.Handler, body string) (status int, text string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", "/v1/responses", strings.NewReader(body)))
	return w.Code, w.Body.String()
}

// streamOf is a chat's stream of these chunks.
func streamOf(chunks ...string) string {
	var b strings.Builder
	for _, chunk := range chunks {
		b.WriteString("data: " + chunk + "\n\n")
	}
	return b.String()
}

const (
	role   = `{"id":"chatcmpl-7","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`
	hello  = `{"id":"chatcmpl-7","choices":[{"index":0,"delta":{"content":"Hi"}}]}`
	stop   = `{"id":"chatcmpl-7","choices":[{"index":0,"delta":{"content":"!"},"finish_reason":"stop"}]}`
	length = `{"id":"chatcmpl-7","choices":[{"index":0,"delta":{"content":"!"},"finish_reason":"length"}]}`
	counts = `{"id":"chatcmpl-7","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}`
)

func TestChatsBecomeResponses(t *testing.T) {
	created := "event: response.created\ndata: {\"response\":{\"id\":\"resp_7\",\"status\":\"in_progress\"},\"type\":\"response.created\"}\n\n"
	delta := func(text string) string {
		return fmt.Sprintf("event: response.output_text.delta\ndata: {\"content_index\":0,\"delta\":%q,\"item_id\":\"msg_resp_7\",\"type\":\"response.output_text.delta\"}\n\n", text)
	}
	for _, c := range []struct{ name, stream, want string }{
		{"text", streamOf(role, hello, stop, counts, "[DONE]"), created + delta("Hi") + delta("!") +
			"event: response.completed\ndata: {\"response\":{\"id\":\"resp_7\",\"status\":\"completed\",\"usage\":{\"input_tokens\":5,\"input_tokens_details\":{\"cached_tokens\":4},\"output_tokens\":2,\"total_tokens\":7}},\"type\":\"response.completed\"}\n\n"},
		{"cut at its length, with carriage returns, without usage", strings.ReplaceAll(streamOf(hello, length, "[DONE]"), "\n", "\r\n"), created + delta("Hi") + delta("!") +
			"event: response.incomplete\ndata: {\"response\":{\"id\":\"resp_7\",\"incomplete_details\":{\"reason\":\"max_output_tokens\"},\"status\":\"incomplete\",\"usage\":null},\"type\":\"response.incomplete\"}\n\n"},
		{"an error", streamOf(hello, `{"error":{"message":"boom"}}`, "[DONE]"), created + delta("Hi") +
			"event: error\ndata: {\"error\":{\"message\":\"boom\"},\"type\":\"error\"}\n\n"},
		{"comments and garbage, cut in a line", ": ping\n\n" + streamOf("{\x00", hello) + "data: {", ": ping\n\ndata: {\x00\n\n" + created + delta("Hi") + "data: {"},
		{"reasoning", streamOf(`{"id":"chatcmpl-7","choices":[{"delta":{"reasoning":"So"}}]}`), created +
			"event: response.reasoning_text.delta\ndata: {\"content_index\":0,\"delta\":\"So\",\"item_id\":\"rs_resp_7\",\"type\":\"response.reasoning_text.delta\"}\n\n"},
	} {
		h := &Handler{Chat: &chat{status: 200, stream: c.stream}}
		if status, got := talk(t, h, `{"input":"Hi","stream":true}`); status != 200 || got != c.want {
			t.Errorf("%s: status %d\n got %q\nwant %q", c.name, status, got, c.want)
		}
	}
}

func TestChatsBecomeResponsesThatAreNotStreamed(t *testing.T) {
	call := `{"id":"chatcmpl-7","choices":[{"delta":{"tool_calls":[{"id":"call_1","function":{"name":"get","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`
	for _, c := range []struct{ stream, want string }{
		{streamOf(role, hello, length, counts, "[DONE]"), `{"id":"resp_7","incomplete_details":{"reason":"max_output_tokens"},"object":"response","output":[{"content":[{"text":"Hi!","type":"output_text"}],"id":"msg_resp_7","role":"assistant","type":"message"}],"status":"incomplete","usage":{"input_tokens":5,"input_tokens_details":{"cached_tokens":4},"output_tokens":2,"total_tokens":7}}`},
		{streamOf(role, call, "[DONE]"), `{"id":"resp_7","object":"response","output":[{"arguments":"{}","call_id":"call_1","id":"fc_call_1","name":"get","status":"completed","type":"function_call"}],"status":"completed","usage":null}`},
		{streamOf(hello, `{"error":{"message":"boom"}}`, "[DONE]"), `{"error":{"message":"boom"},"object":"response","status":"failed"}`},
	} {
		h := &Handler{Chat: &chat{status: 200, stream: c.stream}}
		if status, got := talk(t, h, `{"input":"Hi"}`); status != 200 || got != c.want {
			t.Errorf("status %d\n got %s\nwant %s", status, got, c.want)
		}
	}
}

func TestRequestsGoOnFromAnswersThatAreKept(t *testing.T) {
	c := &chat{status: 200, stream: streamOf(hello, `{"id":"chatcmpl-7","choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{"}}]}}]}`,
		`{"id":"chatcmpl-7","choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}}]}`, "[DONE]")}
	h := &Handler{Chat: c}
	if _, got := talk(t, h, `{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"Hi"}]}],"max_output_tokens":9,"stream":true,"tools":[{"type":"function","name":"f","parameters":{}}]}`); !strings.Contains(got, `{"item":{"arguments":"{}","call_id":"c1","id":"fc_c1","name":"f","status":"completed","type":"function_call"},"type":"response.output_item.done"}`) {
		t.Errorf("no whole call in %s", got)
	}
	c.stream = strings.ReplaceAll(streamOf(hello, "[DONE]"), "chatcmpl-7", "chatcmpl-8")
	talk(t, h, `{"input":[{"type":"function_call_output","call_id":"c1","output":"42"}],"previous_response_id":"resp_7","stream":true,"store":false}`)
	first := `{"content":[{"text":"Hi","type":"text"}],"role":"user"}`
	for i, want := range []string{
		`[` + first + `]`,
		`[` + first + `,{"content":"Hi","role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"f"},"id":"c1","type":"function"}]},{"content":"42","role":"tool","tool_call_id":"c1"}]`,
	} {
		if got := string(c.asked[i]["messages"]); got != want {
			t.Errorf("request %d\n got %s\nwant %s", i, got, want)
		}
	}
	asked := c.asked[0]
	if got := fmt.Sprintf("%s %s %s %s", asked["model"], asked["max_completion_tokens"], asked["tools"], asked["stream_options"]); got != `"m" 9 [{"function":{"name":"f","parameters":{}},"type":"function"}] {"include_usage":true}` || asked["input"] != nil {
		t.Errorf("the chat was asked %s", got)
	}
	if status, got := talk(t, h, `{"input":"On","previous_response_id":"resp_8","stream":true}`); status != 404 || !strings.Contains(got, `Response with id 'resp_8' not found.`) {
		t.Errorf("an answer that is not stored: %d %s", status, got)
	}
}

func TestOldAnswersAreDropped(t *testing.T) {
	h := &Handler{}
	for i := range mostKept + 2 {
		h.keep(fmt.Sprint(i), &turn{})
		h.keep(fmt.Sprint(i), &turn{})
	}
	if h.find("1") != nil || h.find("2") == nil || len(h.kept) != mostKept {
		t.Errorf("%d answers are kept", len(h.kept))
	}
}

func TestRequestsThatAreNotSimulatedAreRefused(t *testing.T) {
	h := &Handler{Chat: &chat{status: 400, stream: `{"error":{"message":"too long"}}`}}
	for body, want := range map[string]string{
		`{`:               "the body is not a JSON object",
		`{"stream":1}`:    "the body does not fit",
		`{"stream":true}`: "`input` must be",
		`{"input":[{"type":"reasoning"}],"stream":true}`:                               "type \\\"reasoning\\\"",
		`{"input":[{"role":"user","content":[{"type":"input_image"}]}],"stream":true}`: "type \\\"input_image\\\"",
		`{"input":[{"role":"user","content":[1]}],"stream":true}`:                      "`content` must be",
		`{"input":"Hi","stream":true}`:                                                 "too long",
	} {
		if status, got := talk(t, h, body); status != 400 || !strings.Contains(got, want) {
			t.Errorf("%s: %d %s, want %q", body, status, got, want)
		}
	}
}
