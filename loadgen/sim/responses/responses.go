// Package responses speaks OpenAI's Responses API in front of a server of chat completions.
//
// A Handler turns a request into one for a chat, and each chunk of the chat's stream into events, at
// once: so the times are the chat's. It keeps what it answered, so that a request can go on from an
// answer by its id.
package responses

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/servebench/servebench/loadgen/sim/chatstream"
)

// mostKept is how many answers a Handler keeps; after it, the oldest is dropped. An answer also keeps
// the ones that it went on from.
const mostKept = 1 << 16

// A Handler answers POST /v1/responses by a chat. It streams only. It is safe for concurrent use.
type Handler struct {
	// Chat answers POST /v1/chat/completions as vLLM does.
	Chat http.Handler

	mu    sync.Mutex
	kept  map[string]*turn
	order []string // ids in kept, the oldest first
}

// A turn is what one request and its answer added to a chat.
type turn struct {
	before   *turn // nil for the first
	messages []any
}

// all are the messages up to t, which may be nil.
func (t *turn) all() []any {
	if t == nil {
		return nil
	}
	before := t.before.all()
	return append(before[:len(before):len(before)], t.messages...)
}

// keep keeps an answer by its id.
func (h *Handler) keep(id string, t *turn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.kept == nil {
		h.kept = map[string]*turn{}
	}
	if h.kept[id] == nil {
		h.order = append(h.order, id)
	}
	if h.kept[id] = t; len(h.order) > mostKept {
		delete(h.kept, h.order[0])
		h.order = h.order[1:]
	}
}

func (h *Handler) find(id string) *turn {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.kept[id]
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var fields map[string]json.RawMessage
	raw, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(raw, &fields)
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("the body is not a JSON object: %v", err))
		return
	}
	var asked struct {
		Stream   bool            `json:"stream"`
		Store    *bool           `json:"store"`
		Previous string          `json:"previous_response_id"`
		Input    json.RawMessage `json:"input"`
		Tools    []tool          `json:"tools"`
	}
	if err := json.Unmarshal(raw, &asked); err != nil {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("the body does not fit: %v", err))
		return
	}
	added, err := messages(asked.Input)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	t := &turn{messages: added}
	if asked.Previous != "" {
		if t.before = h.find(asked.Previous); t.before == nil {
			refuse(w, http.StatusNotFound, fmt.Sprintf("Response with id '%s' not found.", asked.Previous))
			return
		}
	}
	s := &stream{keep: func(string, any) {}}
	if asked.Store == nil || *asked.Store {
		s.keep = func(id string, answer any) {
			t.messages = append(t.messages, answer)
			h.keep(id, t)
		}
	}
	reply := &chatstream.Writer{ResponseWriter: w, API: s}
	if !asked.Stream {
		reply = &chatstream.Writer{ResponseWriter: jsonWriter{w}, API: whole{s}}
	}
	h.Chat.ServeHTTP(reply, chatRequest(r, fields, t.all(), asked.Tools))
	reply.End()
}

// chatRequest is r as a request for a chat with these messages and tools.
func chatRequest(r *http.Request, fields map[string]json.RawMessage, messages []any, tools []tool) *http.Request {
	chat := map[string]any{}
	for name, value := range fields {
		switch name {
		case "input", "store", "previous_response_id", "tools":
		case "max_output_tokens":
			chat["max_completion_tokens"] = value
		default:
			chat[name] = value
		}
	}
	chat["messages"], chat["stream"] = messages, true
	chat["stream_options"] = map[string]any{"include_usage": true}
	if len(tools) > 0 {
		chat["tools"] = tools
	}
	body := mustJSON(chat)
	asked := r.Clone(r.Context())
	asked.URL.Path = "/v1/chat/completions"
	asked.Body, asked.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return asked
}

// A tool is a function, which chats have inside a member.
type tool struct{ json.RawMessage }

// UnmarshalJSON reads a tool of the Responses API.
func (t *tool) UnmarshalJSON(raw []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	kind := fields["type"]
	delete(fields, "type")
	t.RawMessage = mustJSON(map[string]any{"type": kind, "function": fields})
	return nil
}

// messages are the messages of an input: a text, or a list of items.
func messages(input json.RawMessage) (all []any, err error) {
	var text string
	if json.Unmarshal(input, &text) == nil && len(input) > 0 && input[0] == '"' {
		return []any{map[string]any{"role": "user", "content": text}}, nil
	}
	var items []item
	if err := json.Unmarshal(input, &items); err != nil || items == nil {
		return nil, fmt.Errorf("`input` must be a text or a list of items")
	}
	for _, i := range items {
		message, err := i.message()
		if err != nil {
			return nil, err
		}
		all = append(all, message)
	}
	return all, nil
}

// An item is a message, a call or the result of a call.
type item struct {
	Type      string
	Role      string
	Content   json.RawMessage
	CallID    string `json:"call_id"`
	Name      string
	Arguments string
	Output    json.RawMessage
}

func (i *item) message() (any, error) {
	switch i.Type {
	case "", "message":
		content, err := i.content()
		return map[string]any{"role": i.Role, "content": content}, err
	case "function_call":
		return map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{call(i.CallID, i.Name, i.Arguments)}},
			nil
	case "function_call_output":
		return map[string]any{"role": "tool", "tool_call_id": i.CallID, "content": i.Output}, nil
	}
	return nil, fmt.Errorf("an item of type %q is not simulated", i.Type)
}

// content is the content of a message, with the names that chats have for its parts.
func (i *item) content() (any, error) {
	var parts []struct{ Type, Text string }
	if len(i.Content) == 0 || i.Content[0] != '[' {
		return i.Content, nil
	}
	if err := json.Unmarshal(i.Content, &parts); err != nil {
		return nil, fmt.Errorf("`content` must be a text or a list of parts")
	}
	texts := make([]any, len(parts))
	for k, part := range parts {
		if part.Type != "input_text" && part.Type != "output_text" {
			return nil, fmt.Errorf("content of type %q is not simulated", part.Type)
		}
		texts[k] = map[string]any{"type": "text", "text": part.Text}
	}
	return texts, nil
}

// call is a call as an assistant's message has it.
func call(id, name, arguments string) any {
	return map[string]any{"id": id, "type": "function", "function": map[string]any{"name": name, "arguments": arguments}}
}

// refuse answers with an error in vLLM's shape.
func refuse(w http.ResponseWriter, status int, message string) {
	kind := "BadRequestError"
	if status == http.StatusNotFound {
		kind = "NotFoundError"
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(mustJSON(map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil,
		"code": status}}))
}

// mustJSON encodes a value that encoding/json always accepts.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
