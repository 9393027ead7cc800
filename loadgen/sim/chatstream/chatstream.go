// Package chatstream writes the stream of a chat as the stream of another API.
//
// A Writer stands before the writer of a reply to a chat. It reads each chunk of the chat as soon as it
// is whole, and writes the events that it makes at once: so the times are the chat's.
package chatstream

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// A Writer reads the stream of a chat and writes what an API makes of it. Whatever is no stream of
// chunks, it passes on as it is. Its API must be set before the first write.
type Writer struct {
	http.ResponseWriter
	API API

	status int
	part   []byte // a line that has not ended
}

// An API writes its events for parts of a chat's stream. Event helps it.
type API interface {
	// Chunk writes the events of a chunk, which may be an error.
	Chunk(out *bytes.Buffer, c *Chunk)
	// Done writes the last events.
	Done(out *bytes.Buffer)
}

// A Chunk is what counts of a chat's chunk.
type Chunk struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Error   json.RawMessage `json:"error"` // nil for none
	Usage   json.RawMessage `json:"usage"`
	Choices []Choice        `json:"choices"` // none in a chunk of usage
}

// A Choice is what a chunk adds to one answer.
type Choice struct {
	Delta  Delta  `json:"delta"`
	Finish string `json:"finish_reason"` // empty until the end
}

// A Delta is what a chunk adds.
type Delta struct {
	Content          string `json:"content"`
	Reasoning        string `json:"reasoning"`
	ReasoningContent string `json:"reasoning_content"` // an older name
	ToolCalls        []struct {
		ID       string // of a call that begins here
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// Thought is the reasoning that the chunk adds.
func (d *Delta) Thought() string { return d.Reasoning + d.ReasoningContent }

// WriteHeader notes whether a stream follows.
func (w *Writer) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is the writer below, for http.ResponseController.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write writes the events that the whole lines so far make.
func (w *Writer) Write(b []byte) (int, error) {
	if w.status != http.StatusOK {
		return w.ResponseWriter.Write(b)
	}
	w.part = append(w.part, b...)
	var out bytes.Buffer
	for {
		line, rest, whole := bytes.Cut(w.part, []byte("\n"))
		if !whole {
			break
		}
		w.line(&out, bytes.TrimRight(line, "\r"))
		w.part = rest
	}
	if out.Len() > 0 {
		if _, err := w.ResponseWriter.Write(out.Bytes()); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// line writes what a line of the chat's stream makes.
func (w *Writer) line(out *bytes.Buffer, line []byte) {
	data, isData := bytes.CutPrefix(line, []byte("data:"))
	data = bytes.TrimSpace(data)
	var c Chunk
	switch {
	case len(line) == 0 || bytes.HasPrefix(line, []byte("event:")):
	case isData && string(data) == "[DONE]":
		w.API.Done(out)
	case isData && json.Unmarshal(data, &c) == nil && (len(c.Choices) > 0 || c.Error != nil || len(c.Usage) >= len("{}")):
		w.API.Chunk(out, &c)
	default:
		out.Write(line)
		out.WriteString("\n\n")
	}
}

// End passes on what follows the last line. Call it once the chat has answered.
func (w *Writer) End() {
	if len(w.part) > 0 {
		w.ResponseWriter.Write(w.part)
	}
}

// Usage is the chat's count of tokens.
type Usage struct {
	In      int `json:"prompt_tokens"`
	Out     int `json:"completion_tokens"`
	Details *struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"` // nil if the chat does not say
}

// Event writes an event of a type, with the type as a member, too.
func Event(out *bytes.Buffer, kind string, members map[string]any) {
	members["type"] = kind
	data, err := json.Marshal(members)
	if err != nil {
		panic(err) // callers give what JSON has
	}
	out.WriteString("event: " + kind + "\ndata: ")
	out.Write(data)
	out.WriteString("\n\n")
}
