package responses

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// A stream writes the stream of a chat as events of the Responses API. Whatever is no stream of
// chunks, it passes on as it is.
type stream struct {
	http.ResponseWriter
	status int
	part   []byte // a line that has not ended

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

// WriteHeader notes whether a stream follows.
func (s *stream) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// Unwrap is the writer below, for http.ResponseController.
func (s *stream) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// Write writes the events that the whole lines so far make.
func (s *stream) Write(b []byte) (int, error) {
	if s.status != http.StatusOK {
		return s.ResponseWriter.Write(b)
	}
	s.part = append(s.part, b...)
	var out bytes.Buffer
	for {
		line, rest, whole := bytes.Cut(s.part, []byte("\n"))
		if !whole {
			break
		}
		s.line(&out, bytes.TrimRight(line, "\r"))
		s.part = rest
	}
	if out.Len() > 0 {
		if _, err := s.ResponseWriter.Write(out.Bytes()); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// line writes what a line of the chat's stream makes.
func (s *stream) line(out *bytes.Buffer, line []byte) {
	data, isData := bytes.CutPrefix(line, []byte("data:"))
	data = bytes.TrimSpace(data)
	switch {
	case len(line) == 0 || bytes.HasPrefix(line, []byte("event:")):
	case isData && string(data) == "[DONE]":
		s.done(out)
	case isData && s.chunk(out, data):
	default:
		out.Write(line)
		out.WriteString("\n\n")
	}
}

// A chunk is what counts of a chat's chunk.
type chunk struct {
	ID      string          `json:"id"`
	Error   json.RawMessage `json:"error"`
	Usage   json.RawMessage `json:"usage"`
	Choices []struct {
		Delta struct {
			Content          *string
			Reasoning        string
			ReasoningContent string `json:"reasoning_content"`
			ToolCalls        []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		Finish string `json:"finish_reason"`
	}
}

// chunk writes the events of a chunk. It reports whether data is one.
func (s *stream) chunk(out *bytes.Buffer, data []byte) bool {
	var c chunk
	if json.Unmarshal(data, &c) != nil || len(c.Choices) == 0 && c.Error == nil && len(c.Usage) < len("{}") {
		return false
	}
	if c.Error != nil {
		s.failed = true
		event(out, "error", map[string]any{"error": c.Error})
		return true
	}
	if !s.begun {
		s.begun, s.id = true, "resp_"+strings.TrimPrefix(c.ID, "chatcmpl-")
		event(out, "response.created", map[string]any{"response": map[string]any{"id": s.id, "status": "in_progress"}})
	}
	if len(c.Choices) == 0 {
		s.usage = c.Usage
		return true
	}
	choice := &c.Choices[0]
	if choice.Finish != "" {
		s.finish = choice.Finish
	}
	delta := &choice.Delta
	if thought := delta.Reasoning + delta.ReasoningContent; thought != "" {
		event(out, "response.reasoning_text.delta", map[string]any{"item_id": "rs_" + s.id, "content_index": 0, "delta": thought})
	}
	if delta.Content != nil && *delta.Content != "" {
		s.text.WriteString(*delta.Content)
		event(out, "response.output_text.delta", map[string]any{"item_id": "msg_" + s.id, "content_index": 0, "delta": *delta.Content})
	}
	for _, part := range delta.ToolCalls {
		if part.ID != "" {
			s.calls = append(s.calls, &function{id: part.ID, name: part.Function.Name})
			event(out, "response.output_item.added", map[string]any{"item": map[string]any{"type": "function_call", "call_id": part.ID, "name": part.Function.Name, "arguments": ""}})
		}
		if len(s.calls) > 0 {
			f := s.calls[len(s.calls)-1]
			f.arguments.WriteString(part.Function.Arguments)
			event(out, "response.function_call_arguments.delta", map[string]any{"item_id": "fc_" + f.id, "delta": part.Function.Arguments})
		}
	}
	return true
}

// done writes the last events, unless the answer has failed.
func (s *stream) done(out *bytes.Buffer) {
	if !s.begun || s.failed {
		return
	}
	for _, f := range s.calls {
		event(out, "response.output_item.done", map[string]any{"item": map[string]any{
			"type": "function_call", "id": "fc_" + f.id, "call_id": f.id, "name": f.name, "arguments": f.arguments.String(), "status": "completed",
		}})
	}
	response := map[string]any{"id": s.id, "status": "completed", "usage": s.counts()}
	kind := "response.completed"
	if s.finish == "length" {
		kind, response["status"], response["incomplete_details"] = "response.incomplete", "incomplete", map[string]any{"reason": "max_output_tokens"}
	}
	s.keep(s.id, s.message())
	event(out, kind, map[string]any{"response": response})
}

// counts is the usage under the names of the Responses API; nil if the chat gave none.
func (s *stream) counts() any {
	var u struct {
		In      int `json:"prompt_tokens"`
		Out     int `json:"completion_tokens"`
		Details *struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	if s.usage == nil || json.Unmarshal(s.usage, &u) != nil {
		return nil
	}
	counts := map[string]any{"input_tokens": u.In, "output_tokens": u.Out, "total_tokens": u.In + u.Out}
	if u.Details != nil {
		counts["input_tokens_details"] = map[string]any{"cached_tokens": u.Details.Cached}
	}
	return counts
}

// end passes on what follows the last line.
func (s *stream) end() {
	if len(s.part) > 0 {
		s.ResponseWriter.Write(s.part)
	}
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

// event writes an event of that type.
func event(out *bytes.Buffer, kind string, members map[string]any) {
	members["type"] = kind
	out.WriteString("event: " + kind + "\ndata: ")
	out.Write(mustJSON(members))
	out.WriteString("\n\n")
}
