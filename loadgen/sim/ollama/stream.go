package ollama

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/servebench/servebench/loadgen/sim/chatstream"
)

// A stream writes the stream of a chat as Ollama's lines, or as one line if the answer is wanted whole.
type stream struct {
	model           string
	generate, whole bool
	began, first    time.Time // the request, and its first output
	failed          bool
	finish          string
	usage           chatstream.Usage

	text, thought string // of an answer that is wanted whole
	calls         []any  // whole calls, which Ollama sends at the end
}

// Chunk writes the line of a chunk.
func (s *stream) Chunk(out *bytes.Buffer, c *chatstream.Chunk) {
	if c.Error != nil {
		s.failed = true
		var said struct{ Message string }
		_ = json.Unmarshal(c.Error, &said) // what is no object has no message
		s.line(out, map[string]any{"error": said.Message})
		return
	}
	_ = json.Unmarshal(c.Usage, &s.usage) // none is no JSON
	if len(c.Choices) == 0 {
		return
	}
	choice := &c.Choices[0]
	if choice.Finish != "" {
		s.finish = choice.Finish
	}
	delta := &choice.Delta
	for _, part := range delta.ToolCalls {
		s.call(part.ID, part.Function.Name, part.Function.Arguments)
	}
	if delta.Content == "" && delta.Thought() == "" {
		return
	}
	if s.first.IsZero() {
		s.first = time.Now()
	}
	if s.whole {
		s.text, s.thought = s.text+delta.Content, s.thought+delta.Thought()
		return
	}
	s.line(out, s.answer(delta.Content, delta.Thought(), nil))
}

// call notes a part of a call.
func (s *stream) call(id, name, arguments string) {
	if id != "" {
		s.calls = append(s.calls, map[string]any{"function": map[string]any{"name": name, "arguments": arguments}})
		return
	}
	if len(s.calls) > 0 {
		function := s.calls[len(s.calls)-1].(map[string]any)["function"].(map[string]any)
		function["arguments"] = function["arguments"].(string) + arguments
	}
}

// answer are the members of a line with a part of the answer.
func (s *stream) answer(text, thought string, calls []any) map[string]any {
	said := map[string]any{}
	if thought != "" {
		said["thinking"] = thought
	}
	if s.generate {
		said["response"] = text
		return said
	}
	said["role"], said["content"] = "assistant", text
	if calls != nil {
		said["tool_calls"] = calls
	}
	return map[string]any{"message": said}
}

// Done writes the last line, unless the answer has failed.
func (s *stream) Done(out *bytes.Buffer) {
	if s.failed {
		return
	}
	end := time.Now()
	if s.first.IsZero() {
		s.first = end
	}
	for _, c := range s.calls {
		function := c.(map[string]any)["function"].(map[string]any)
		function["arguments"] = json.RawMessage(function["arguments"].(string))
	}
	if s.calls != nil && !s.whole {
		s.line(out, s.answer("", "", s.calls))
		s.calls = nil
	}
	last := s.answer(s.text, s.thought, s.calls)
	last["done"], last["done_reason"] = true, s.finish
	last["prompt_eval_count"], last["eval_count"] = s.usage.In, s.usage.Out
	last["total_duration"] = end.Sub(s.began)
	last["prompt_eval_duration"], last["eval_duration"] = s.first.Sub(s.began), end.Sub(s.first)
	s.line(out, last)
}

// line writes a line with these members.
func (s *stream) line(out *bytes.Buffer, members map[string]any) {
	members["model"], members["created_at"] = s.model, time.Now().UTC()
	if members["done"] == nil && members["error"] == nil {
		members["done"] = false
	}
	text, err := json.Marshal(members)
	if err != nil {
		text = []byte(`{"error":"the arguments of a call are no JSON"}`)
	}
	out.Write(append(text, '\n'))
}
