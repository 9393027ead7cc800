package loadgen

import (
	"encoding/json"
	"errors"
	"strings"
)

// A piece is what one event of a streamed completion or chat completion says,
// as far as a load test cares.
type piece struct {
	choices bool   // its list of choices is not empty: a chunk
	index   int    // of its last choice
	text    []byte // output of all its choices: text, content, reasoning, refusals, names and arguments of calls
	finish  []byte // finish reason of its last choice that has one
	usage   usage
	failed  bool // it is, or holds, an error object

	scratch []byte // keeps the room for text that does not lie in the event in one part
	shape   shape  // of an event before
}

// usage is the server's count of tokens. Zero means that it gave none: servers
// send zeros on the chunks before they know.
type usage struct{ in, out int }

// maxCount is the largest count that is taken for one, so that sums of counts stay
// within an int.
const maxCount = 1e9 - 1

// sane is n where it can be a count, and 0 where not.
func sane(n int) int {
	if n < 0 || n > maxCount {
		return 0
	}
	return n
}

// read takes in the JSON of one event. What it finds is valid as long as data,
// and until the next read.
func (p *piece) read(data []byte) error {
	if p.repeat(data) || p.scan(data) {
		return nil
	}
	return p.decode(data)
}

// repeat reads an event that has the shape of the one before. It reports whether
// that is so.
func (p *piece) repeat(data []byte) bool {
	text, counts, ok := p.shape.match(data)
	if !ok {
		return false
	}
	p.reset()
	p.choices, p.index, p.text = true, p.shape.index, text
	return p.scanUsage(counts)
}

func (p *piece) reset() {
	p.choices, p.index, p.text, p.finish = false, 0, nil, nil
	p.usage, p.failed, p.scratch = usage{}, false, p.scratch[:0]
}

// add puts more output behind what is there.
func (p *piece) add(more []byte) {
	if len(p.text) == 0 {
		p.text = more
	} else if len(more) > 0 {
		p.scratch = append(append(p.scratch[:0], p.text...), more...)
		p.text = p.scratch
	}
}

// decode is read by encoding/json, for events that scan is not sure about. A
// member of another type than it should have counts as missing.
func (p *piece) decode(data []byte) error {
	p.reset()
	var w wireChunk
	var odd *json.UnmarshalTypeError
	if err := json.Unmarshal(data, &w); err != nil && !errors.As(err, &odd) {
		return err
	}
	p.failed = w.Object == "error" || !isNothing(w.Error)
	p.choices = len(w.Choices) > 0
	p.usage = usage{sane(w.Usage.PromptTokens), sane(w.Usage.CompletionTokens)}
	for _, c := range w.Choices {
		p.index = c.Index
		p.add([]byte(c.Text))
		for _, text := range c.Delta.output() {
			p.add([]byte(text))
		}
		if c.FinishReason != "" {
			p.finish = []byte(c.FinishReason)
		}
	}
	return nil
}

// isNothing says whether the value of an error member says that there is none. Some
// servers have the member in every chunk.
func isNothing(raw []byte) bool {
	switch string(raw) {
	case "", "null", `""`, "{}", "[]", "false":
		return true
	}
	return false
}

// A wireChunk is the JSON of an event. The types of go-openai know neither
// reasoning nor both endpoints at once.
type wireChunk struct {
	Object  string          `json:"object"`
	Error   json.RawMessage `json:"error"`
	Choices few[wireChoice] `json:"choices"`
	Usage   struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
	} `json:"usage"`
}

type wireChoice struct {
	Index        int       `json:"index"`
	Text         string    `json:"text"`
	Delta        wireDelta `json:"delta"`
	FinishReason string    `json:"finish_reason"`
}

type wireDelta struct {
	Reasoning        string        `json:"reasoning"`
	ReasoningContent string        `json:"reasoning_content"`
	Content          wireContent   `json:"content"`
	Refusal          string        `json:"refusal"`
	FunctionCall     wireCall      `json:"function_call"`
	ToolCalls        few[wireTool] `json:"tool_calls"`
}

type wireTool struct {
	Function wireCall `json:"function"`
}

type wireCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// A wireContent is the text of a delta's content. Mistral's API sends a list of
// parts where the model reasons; what is neither counts as missing.
type wireContent string

// UnmarshalJSON reads raw, which is JSON.
func (c *wireContent) UnmarshalJSON(raw []byte) error {
	*c = ""
	if raw[0] != '[' {
		_ = json.Unmarshal(raw, (*string)(c)) // what is of another type is left out
		return nil
	}
	var parts few[struct {
		Text     string                     `json:"text"`
		Thinking few[struct{ Text string }] `json:"thinking"`
	}]
	_ = json.Unmarshal(raw, &parts) // it is JSON
	var text strings.Builder
	for _, part := range parts {
		for _, thought := range part.Thinking {
			text.WriteString(thought.Text)
		}
		text.WriteString(part.Text)
	}
	*c = wireContent(text.String())
	return nil
}

// output is what the delta adds, in the order in which models produce it. Some
// servers send reasoning under its old name as well.
func (d *wireDelta) output() []string {
	if d.Reasoning == "" {
		d.Reasoning = d.ReasoningContent
	}
	parts := []string{d.Reasoning, string(d.Content), d.Refusal, d.FunctionCall.Name, d.FunctionCall.Arguments}
	for _, call := range d.ToolCalls {
		parts = append(parts, call.Function.Name, call.Function.Arguments)
	}
	return parts
}
