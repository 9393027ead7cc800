package messages

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/servebench/servebench/loadgen/sim/chatstream"
)

// A stream writes the stream of a chat as events of the Messages API, as vLLM does.
type stream struct {
	begun  bool
	failed bool
	block  string // the kind of the open block; empty for none
	index  int    // of the open block, or of the next
	finish string
	called bool // the answer has a call
	usage  map[string]any
}

// Chunk writes the events of a chunk.
func (s *stream) Chunk(out *bytes.Buffer, c *chatstream.Chunk) {
	if c.Error != nil {
		s.failed = true
		chatstream.Event(out, "error", map[string]any{"error": c.Error})
		return
	}
	s.count(c.Usage)
	if !s.begun {
		s.begun = true
		usage := s.usage
		if usage == nil {
			usage = map[string]any{"input_tokens": 0, "output_tokens": 0}
		}
		chatstream.Event(out, "message_start", map[string]any{"message": map[string]any{
			"id": "msg_" + strings.TrimPrefix(c.ID, "chatcmpl-"), "type": "message", "role": "assistant", "content": []any{},
			"model":       c.Model,
			"stop_reason": nil, "stop_sequence": nil, "usage": usage,
		}})
	}
	if len(c.Choices) == 0 {
		return
	}
	choice := &c.Choices[0]
	if choice.Finish != "" {
		s.finish = choice.Finish
	}
	delta := &choice.Delta
	if thought := delta.Thought(); thought != "" {
		s.begin(out, "thinking", map[string]any{"thinking": ""})
		s.delta(out, "thinking_delta", "thinking", thought)
	}
	if delta.Content != "" {
		s.begin(out, "text", map[string]any{"text": ""})
		s.delta(out, "text_delta", "text", delta.Content)
	}
	for _, part := range delta.ToolCalls {
		if part.ID != "" {
			s.end(out) // each call has a block
			s.called = true
			s.begin(out, "tool_use", map[string]any{"id": part.ID, "name": part.Function.Name, "input": map[string]any{}})
		}
		if s.block == "tool_use" && part.Function.Arguments != "" {
			s.delta(out, "input_json_delta", "partial_json", part.Function.Arguments)
		}
	}
}

// begin begins a block of a kind, unless one is open.
func (s *stream) begin(out *bytes.Buffer, kind string, members map[string]any) {
	if s.block == kind {
		return
	}
	s.end(out)
	s.block = kind
	members["type"] = kind
	chatstream.Event(out, "content_block_start", map[string]any{"index": s.index, "content_block": members})
}

// delta writes what is added to the open block.
func (s *stream) delta(out *bytes.Buffer, kind, member, text string) {
	chatstream.Event(out, "content_block_delta",
		map[string]any{"index": s.index, "delta": map[string]any{"type": kind, member: text}})
}

// end ends the open block, if there is one.
func (s *stream) end(out *bytes.Buffer) {
	if s.block == "" {
		return
	}
	if s.block == "thinking" {
		s.delta(out, "signature_delta", "signature", "simulated")
	}
	chatstream.Event(out, "content_block_stop", map[string]any{"index": s.index})
	s.block = ""
	s.index++
}

// count notes the chat's count of tokens. The prompt's tokens do not include those in the cache.
func (s *stream) count(raw json.RawMessage) {
	var u chatstream.Usage
	if len(raw) < len("{}") || json.Unmarshal(raw, &u) != nil {
		return
	}
	s.usage = map[string]any{"input_tokens": u.In, "output_tokens": u.Out}
	if u.Details != nil {
		s.usage["input_tokens"], s.usage["cache_read_input_tokens"] = u.In-u.Details.Cached, u.Details.Cached
	}
}

// Done writes the last events, unless the answer has failed.
func (s *stream) Done(out *bytes.Buffer) {
	if !s.begun || s.failed {
		return
	}
	s.end(out)
	chatstream.Event(out, "message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": s.reason(), "stop_sequence": nil}, "usage": s.usage})
	chatstream.Event(out, "message_stop", map[string]any{})
}

// reason is why the answer ended.
func (s *stream) reason() string {
	switch {
	case s.finish == "length":
		return "max_tokens"
	case s.called:
		return "tool_use"
	}
	return "end_turn"
}
