// Package messages speaks Anthropic's Messages API in front of a server of chat completions, as vLLM
// does.
//
// A Handler turns a request into one for a chat, and each chunk of the chat's stream into events, at
// once: so the times are the chat's.
package messages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/servebench/servebench/loadgen/sim/chatstream"
)

// A Handler answers POST /v1/messages by a chat. It is safe for concurrent use.
type Handler struct {
	// Chat answers POST /v1/chat/completions as vLLM does.
	Chat http.Handler
}

// messagesBody are the members of a request that differ from a chat's.
type messagesBody struct {
	System    json.RawMessage `json:"system"`
	Messages  []message       `json:"messages"`
	MaxTokens *int            `json:"max_tokens"`
	Stop      []string        `json:"stop_sequences"`
	Stream    bool            `json:"stream"`
	Tools     []tool          `json:"tools"`
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var fields map[string]json.RawMessage
	var a messagesBody
	raw, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(raw, &fields)
	}
	if err == nil {
		err = json.Unmarshal(raw, &a)
	}
	switch {
	case err != nil:
		refuse(w, fmt.Sprintf("the body is no request: %v", err))
		return
	case a.MaxTokens == nil || *a.MaxTokens < 1:
		refuse(w, "max_tokens must be given, and positive")
		return
	}
	chat, err := a.chat(fields)
	if err != nil {
		refuse(w, err.Error())
		return
	}
	body := mustJSON(chat)
	to := r.Clone(r.Context())
	to.URL.Path = "/v1/chat/completions"
	to.Body, to.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	if !a.Stream {
		reply := &buffer{ResponseWriter: w, status: http.StatusOK}
		h.Chat.ServeHTTP(reply, to)
		reply.send()
		return
	}
	events := &chatstream.Writer{ResponseWriter: w, API: new(stream)}
	h.Chat.ServeHTTP(events, to)
	events.End()
}

// chat is the request as a chat's. fields are all of its members.
func (a *messagesBody) chat(fields map[string]json.RawMessage) (map[string]any, error) {
	chat := map[string]any{}
	for name, value := range fields {
		switch name {
		case "system", "messages", "max_tokens", "stop_sequences", "tools", "tool_choice", "thinking", "metadata":
		default:
			chat[name] = value
		}
	}
	var messages []any
	if len(a.System) > 0 {
		messages = append(messages, map[string]any{"role": "system", "content": a.System})
	}
	for i := range a.Messages {
		more, err := a.Messages[i].chat()
		if err != nil {
			return nil, err
		}
		messages = append(messages, more...)
	}
	chat["messages"], chat["max_completion_tokens"] = messages, *a.MaxTokens
	if a.Stream {
		chat["stream_options"] = map[string]any{"include_usage": true, "continuous_usage_stats": true}
	}
	if a.Stop != nil {
		chat["stop"] = a.Stop
	}
	if len(a.Tools) > 0 {
		chat["tools"] = a.Tools
	}
	return chat, nil
}

// A tool is a function, which chats have inside a member.
type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
}

// MarshalJSON writes a tool of a chat.
func (t tool) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"type": "function",
		"function": map[string]any{"name": t.Name, "description": t.Description, "parameters": t.Schema}})
}

// A message is one of a request.
type message struct {
	Role    string
	Content json.RawMessage // a text or a list of blocks
}

// A contentBlock is a part of a message.
type contentBlock struct {
	Type      string
	Text      string
	ID        string
	Name      string
	Input     json.RawMessage
	ToolUseID string `json:"tool_use_id"`
	Content   json.RawMessage
	Source    struct {
		Type, URL, Data string
		MediaType       string `json:"media_type"`
	}
}

// chat is the message as a chat has it: results of tools are messages there.
func (m *message) chat() (all []any, err error) {
	if len(m.Content) == 0 || m.Content[0] != '[' {
		return []any{map[string]any{"role": m.Role, "content": m.Content}}, nil
	}
	var blocks []contentBlock
	if err := json.Unmarshal(m.Content, &blocks); err != nil {
		return nil, fmt.Errorf("`content` must be a text or a list of blocks")
	}
	parts, calls := []any{}, []any{}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			parts = append(parts, map[string]any{"type": "text", "text": b.Text})
		case "image":
			url := b.Source.URL
			if b.Source.Type == "base64" {
				url = "data:" + b.Source.MediaType + ";base64," + b.Source.Data
			}
			parts = append(parts, map[string]any{"type": "image_url", "image_url": map[string]any{"url": url}})
		case "tool_use":
			calls = append(calls, map[string]any{"id": b.ID, "type": "function",
				"function": map[string]any{"name": b.Name, "arguments": string(b.Input)}})
		case "tool_result":
			all = append(all, map[string]any{"role": "tool", "tool_call_id": b.ToolUseID, "content": b.Content})
		case "thinking", "redacted_thinking": // templates drop it
		default:
			return nil, fmt.Errorf("a block of type %q is not simulated", b.Type)
		}
	}
	if len(parts)+len(calls) == 0 && len(all) > 0 {
		return all, nil
	}
	said := map[string]any{"role": m.Role, "content": parts}
	if len(calls) > 0 {
		said["tool_calls"] = calls
	}
	return append(all, said), nil
}

// refuse answers with an error as Anthropic's API has it.
func refuse(w http.ResponseWriter, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	w.Write(mustJSON(map[string]any{"type": "error",
		"error": map[string]any{"type": "invalid_request_error", "message": message}}))
}

// mustJSON encodes a value that encoding/json always accepts.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
