// Package ollama speaks Ollama's API in front of a server of chat completions.
//
// A Handler turns a request into one for a chat, and each chunk of the chat's stream into a line, at once: so the times
// are the chat's.
package ollama

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/sim/chatstream"
)

// A Handler answers POST /api/chat and POST /api/generate by a chat. It is safe for concurrent use.
type Handler struct {
	// Chat answers POST /v1/chat/completions as vLLM does.
	Chat http.Handler
}

// A body is a request: with Messages for /api/chat, and with a Prompt for /api/generate.
type body struct {
	Model    string                     `json:"model"`
	Messages []message                  `json:"messages"`
	Prompt   string                     `json:"prompt"`
	Stream   *bool                      `json:"stream"`
	Tools    json.RawMessage            `json:"tools"`
	Options  map[string]json.RawMessage `json:"options"`
}

// A message is one of a request.
type message struct {
	Role    string            `json:"role"`
	Content string            `json:"content"`
	Images  []string          `json:"images"`
	Calls   []json.RawMessage `json:"tool_calls"`
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var b body
	raw, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(raw, &b)
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	generate := strings.HasSuffix(r.URL.Path, "/generate")
	if generate == (b.Messages != nil) {
		refuse(w, http.StatusBadRequest, "/api/chat takes messages, and /api/generate a prompt")
		return
	}
	text, err := json.Marshal(b.chat())
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	to := r.Clone(r.Context())
	to.URL.Path = "/v1/chat/completions"
	to.Body, to.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	s := &stream{model: b.Model, generate: generate, whole: b.Stream != nil && !*b.Stream, began: time.Now()}
	out := &lines{ResponseWriter: w, whole: s.whole}
	events := &chatstream.Writer{ResponseWriter: out, API: s}
	h.Chat.ServeHTTP(events, to)
	events.End()
	out.end(b.Model)
}

// options are Ollama's names of settings, with a chat's.
var options = map[string]string{"num_predict": "max_completion_tokens", "repeat_penalty": "repetition_penalty"}

// chat is the request as a chat's.
func (b *body) chat() map[string]any {
	var messages []any
	for i := range b.Messages {
		messages = append(messages, b.Messages[i].chat())
	}
	if b.Messages == nil {
		messages = []any{map[string]any{"role": "user", "content": b.Prompt}}
	}
	chat := map[string]any{"model": b.Model, "messages": messages, "stream": true,
		"stream_options": map[string]any{"include_usage": true}}
	for name, value := range b.Options {
		if other := options[name]; other != "" {
			name = other
		}
		chat[name] = value
	}
	if b.Tools != nil {
		chat["tools"] = b.Tools
	}
	return chat
}

// chat is a message as a chat has it.
func (m *message) chat() map[string]any {
	chat := map[string]any{"role": m.Role, "content": m.Content}
	if m.Images != nil {
		parts := []any{map[string]any{"type": "text", "text": m.Content}}
		for _, image := range m.Images {
			url := map[string]any{"url": "data:image/png;base64," + image}
			parts = append(parts, map[string]any{"type": "image_url", "image_url": url})
		}
		chat["content"] = parts
	}
	if m.Calls != nil {
		chat["tool_calls"] = m.Calls
	}
	return chat
}

// refuse answers with an error, as Ollama does.
func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	text, _ := json.Marshal(map[string]string{"error": message}) // texts have no errors
	_, _ = w.Write(text)
}

// lines are a reply of Ollama's for a chat's. A chat that is refused is an error.
type lines struct {
	http.ResponseWriter
	whole  bool
	status int
	said   bytes.Buffer // by a chat that is refused
}

// WriteHeader sets the type of the lines.
func (l *lines) WriteHeader(status int) {
	if l.status = status; status != http.StatusOK {
		return
	}
	l.Header().Set("Content-Type", "application/x-ndjson")
	if l.whole {
		l.Header().Set("Content-Type", "application/json; charset=utf-8")
	}
	l.ResponseWriter.WriteHeader(status)
}

// Unwrap is the writer below, for http.ResponseController.
func (l *lines) Unwrap() http.ResponseWriter { return l.ResponseWriter }

// Write passes lines on.
func (l *lines) Write(b []byte) (int, error) {
	if l.status != http.StatusOK {
		return l.said.Write(b)
	}
	return l.ResponseWriter.Write(b)
}

// end refuses what the chat has refused.
func (l *lines) end(model string) {
	if l.status == http.StatusOK {
		return
	}
	var said struct{ Error struct{ Message string } }
	_ = json.Unmarshal(l.said.Bytes(), &said) // what is no JSON has no message
	if l.status == http.StatusNotFound {
		said.Error.Message = fmt.Sprintf("model %q not found, try pulling it first", model)
	}
	refuse(l.ResponseWriter, l.status, said.Error.Message)
}
