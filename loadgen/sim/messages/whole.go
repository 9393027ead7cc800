package messages

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/servebench/servebench/loadgen/sim/chatstream"
)

// A buffer keeps the reply of a chat that is not streamed.
type buffer struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// WriteHeader keeps the status.
func (b *buffer) WriteHeader(status int) { b.status = status }

// Write keeps a part of the body.
func (b *buffer) Write(p []byte) (int, error) { return b.body.Write(p) }

// send sends the reply, which it turns into a message if it is a chat's answer.
func (b *buffer) send() {
	var c struct {
		ID, Model string
		Choices   []struct {
			Message chatstream.Delta
			Finish  string `json:"finish_reason"`
		}
		Usage json.RawMessage
	}
	text := b.body.Bytes()
	if b.status == http.StatusOK && json.Unmarshal(text, &c) == nil && len(c.Choices) > 0 {
		s := &stream{finish: c.Choices[0].Finish}
		s.count(c.Usage)
		said, content := &c.Choices[0].Message, []any{}
		if thought := said.Thought(); thought != "" {
			content = append(content, map[string]any{"type": "thinking", "thinking": thought, "signature": "simulated"})
		}
		if said.Content != "" {
			content = append(content, map[string]any{"type": "text", "text": said.Content})
		}
		for _, call := range said.ToolCalls {
			s.called = true
			content = append(content, map[string]any{"type": "tool_use", "id": call.ID, "name": call.Function.Name,
				"input": json.RawMessage(call.Function.Arguments)})
		}
		text = mustJSON(map[string]any{
			"id": "msg_" + strings.TrimPrefix(c.ID, "chatcmpl-"), "type": "message", "role": "assistant", "model": c.Model,
			"content":     content,
			"stop_reason": s.reason(), "stop_sequence": nil, "usage": s.usage,
		})
	}
	b.Header().Del("Content-Length") // a chat's
	b.ResponseWriter.WriteHeader(b.status)
	b.ResponseWriter.Write(text)
}
