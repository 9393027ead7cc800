package responses

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/servebench/servebench/loadgen/sim/chatstream"
)

// A stream writes the stream of a chat as events of the Responses API.
type stream struct {
	keep   func(id string, answer any) // is called with the whole answer before its last event
	id     string
	begun  bool
	failed bool
	text   strings.Builder
	calls  []*function
	usage  json.RawMessage
	finish string
}

// A function is a call of the answer.
type function struct {
	id, name  string
	arguments strings.Builder
}

// Chunk writes the events of a chunk.
func (s *stream) Chunk(out *bytes.Buffer, c *chatstream.Chunk) {
	if c.Error != nil {
		s.failed = true
		chatstream.Event(out, "error", map[string]any{"error": c.Error})
		return
	}
	if !s.begun {
		s.begun, s.id = true, "resp_"+strings.TrimPrefix(c.ID, "chatcmpl-")
		chatstream.Event(out, "response.created", map[string]any{
			"response": map[string]any{"id": s.id, "status": "in_progress"}})
	}
	if len(c.Choices) == 0 {
		s.usage = c.Usage
		return
	}
	choice := &c.Choices[0]
	if choice.Finish != "" {
		s.finish = choice.Finish
	}
	delta := &choice.Delta
	if thought := delta.Thought(); thought != "" {
		chatstream.Event(out, "response.reasoning_text.delta",
			map[string]any{"item_id": "rs_" + s.id, "content_index": 0, "delta": thought})
	}
	if delta.Content != "" {
		s.text.WriteString(delta.Content)
		chatstream.Event(out, "response.output_text.delta",
			map[string]any{"item_id": "msg_" + s.id, "content_index": 0, "delta": delta.Content})
	}
	for _, part := range delta.ToolCalls {
		if part.ID != "" {
			s.calls = append(s.calls, &function{id: part.ID, name: part.Function.Name})
			chatstream.Event(out, "response.output_item.added",
				map[string]any{"item": map[string]any{"type": "function_call", "call_id": part.ID, "name": part.Function.Name,
					"arguments": ""}})
		}
		if len(s.calls) > 0 {
			f := s.calls[len(s.calls)-1]
			f.arguments.WriteString(part.Function.Arguments)
			chatstream.Event(out, "response.function_call_arguments.delta",
				map[string]any{"item_id": "fc_" + f.id, "delta": part.Function.Arguments})
		}
	}
}

// Done writes the last events, unless the answer has failed.
func (s *stream) Done(out *bytes.Buffer) {
	if !s.begun || s.failed {
		return
	}
	for _, f := range s.calls {
		chatstream.Event(out, "response.output_item.done", map[string]any{"item": f.item()})
	}
	response, kind := s.response()
	s.keep(s.id, s.message())
	chatstream.Event(out, kind, map[string]any{"response": response})
}

// item is a call as an item of the output.
func (f *function) item() map[string]any {
	return map[string]any{
		"type": "function_call", "id": "fc_" + f.id, "call_id": f.id, "name": f.name, "arguments": f.arguments.String(),
		"status": "completed",
	}
}

// response is the response at its end, and the event that has it.
func (s *stream) response() (response map[string]any, event string) {
	response = map[string]any{"id": s.id, "status": "completed", "usage": s.counts()}
	if s.finish != "length" {
		return response, "response.completed"
	}
	response["status"], response["incomplete_details"] = "incomplete", map[string]any{"reason": "max_output_tokens"}
	return response, "response.incomplete"
}

// counts is the usage under the names of the Responses API; nil if the chat gave none.
func (s *stream) counts() any {
	var u chatstream.Usage
	if s.usage == nil || json.Unmarshal(s.usage, &u) != nil {
		return nil
	}
	counts := map[string]any{"input_tokens": u.In, "output_tokens": u.Out, "total_tokens": u.In + u.Out}
	if u.Details != nil {
		counts["input_tokens_details"] = map[string]any{"cached_tokens": u.Details.Cached}
	}
	return counts
}

// message is the answer as an assistant's message.
func (s *stream) message() any {
	message := map[string]any{"role": "assistant", "content": s.text.String()}
	if len(s.calls) > 0 {
		calls := make([]any, len(s.calls))
		for i, f := range s.calls {
			calls[i] = call(f.id, f.name, f.arguments.String())
		}
		message["tool_calls"] = calls
	}
	return message
}
