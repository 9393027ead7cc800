package openai

import (
	"encoding/json"
	"errors"

	"github.com/servebench/servebench/metrics"
)

// A piece is what one event of a streamed completion or chat completion says,
// as far as a load test cares.
type piece struct {
	choices bool   // its list of choices is not empty: a chunk
	index   int    // of its last choice
	output  bool   // vLLM's client takes it for output
	content bool   // a choice carries text, reasoning, a refusal or a call
	text    []byte // what its first choice adds to the generated text
	finish  []byte // finish reason of its last choice that has one
	usage   usage
	server  *metrics.ServerTimes // nil where it has none
	failed  bool                 // it is, or holds, an error object

	chat    bool   // it is of a chat; whoever reads sets it, and no read changes it
	strings int    // texts in it that are not empty
	varying []byte // the last of them, where it stands for itself
	scratch []byte // keeps the room for text that does not
	shape   shape  // of an event before
}

// usage is the server's count of tokens.
type usage struct {
	given         bool // it is an object that holds something
	in, out       int  // 0 where not given: some servers send zeros on the chunks before they know
	hasIn, hasOut bool // whether they are there, be it as 0
	cached        int  // prompt tokens that were in the server's prefix cache; 0 where not given
}

// take is what vLLM's client does with more usage: the last one counts, save that
// the prompt's tokens stay where it does not give them.
func (u *usage) take(more usage) {
	if !more.hasIn {
		more.in, more.hasIn = u.in, u.hasIn
	}
	*u = more
}

// into sets what is given.
func (u *usage) into(in, out *int) {
	if u.hasIn {
		*in = u.in
	}
	if u.given {
		*out = u.out
	}
}

// maxCount is the largest count that is taken for one, so that sums of counts stay
// within an int.
const maxCount = 1e9 - 1

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
	p.choices, p.content, p.index, p.output = true, true, p.shape.index, p.shape.output
	if p.shape.generated {
		p.text = text
	}
	return p.scanUsage(counts)
}

func (p *piece) reset() {
	p.choices, p.index, p.output, p.content, p.text, p.finish = false, 0, false, false, nil, nil
	p.usage, p.server, p.failed = usage{}, nil, false
	p.strings, p.varying, p.scratch = 0, nil, p.scratch[:0]
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
	p.failed = w.Object == "error" || truthy(w.Error)
	p.usage = usageOf(w.Usage)
	p.server = serverTimes(w.Metrics)
	for _, c := range w.Choices {
		p.index = c.Index
		text := c.Text
		if p.chat {
			text = c.Delta.Content
		}
		p.choice(&c.Delta, truthy(c.Text))
		if !p.choices {
			p.text = []byte(asText(text))
		}
		p.choices = true
		if c.FinishReason != "" {
			p.finish = []byte(c.FinishReason)
		}
	}
	return nil
}

// choice notes whether the choice at hand carries something, and whether vLLM's
// client takes the event for output, which the first choice decides.
func (p *piece) choice(d *wireDelta, text bool) {
	p.content = p.content || text || d.carries()
	if !p.choices {
		p.output = !p.chat || d.isOutput()
	}
}

// A wireChunk is the JSON of an event. The types of go-openai know neither
// reasoning nor both endpoints at once.
type wireChunk struct {
	Object  string          `json:"object"`
	Error   json.RawMessage `json:"error"`
	Choices few[wireChoice] `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Metrics json.RawMessage `json:"metrics"`
}

// usageOf is what there is in raw that is a count.
func usageOf(raw json.RawMessage) usage {
	var members struct {
		In  json.RawMessage `json:"prompt_tokens"`
		Out json.RawMessage `json:"completion_tokens"`

		Details json.RawMessage `json:"prompt_tokens_details"`
	}
	_ = json.Unmarshal(raw, &members) // what is no object has no counts
	found := usage{given: truthy(raw) && raw[0] == '{'}
	found.in, found.hasIn = asCount(members.In)
	found.out, found.hasOut = asCount(members.Out)
	var details struct {
		Cached json.RawMessage `json:"cached_tokens"`
	}
	_ = json.Unmarshal(members.Details, &details) // likewise
	found.cached, _ = asCount(details.Cached)
	return found
}

type wireChoice struct {
	Index        int             `json:"index"`
	Text         json.RawMessage `json:"text"`
	Delta        wireDelta       `json:"delta"`
	FinishReason string          `json:"finish_reason"`
}

// A wireDelta is what a chunk of a chat adds, member by member as raw JSON; nil
// where there is none.
type wireDelta struct {
	Role             json.RawMessage `json:"role"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Content          json.RawMessage `json:"content"`
	Refusal          json.RawMessage `json:"refusal"`
	FunctionCall     json.RawMessage `json:"function_call"`
	ToolCalls        json.RawMessage `json:"tool_calls"`
}

// isOutput is the rule of vLLM's client since 0.33.0: something that it knows is
// not empty, or the content is an empty text and the role is not beside it.
func (d *wireDelta) isOutput() bool {
	return truthy(d.Content) || truthy(d.Reasoning) || truthy(d.ToolCalls) || truthy(d.FunctionCall) ||
		string(d.Content) == `""` && d.Role == nil
}

// carries says that the delta holds output of any kind. Some servers give
// reasoning its older name.
func (d *wireDelta) carries() bool {
	return truthy(d.Content) || truthy(d.Reasoning) || truthy(d.ToolCalls) || truthy(d.FunctionCall) ||
		truthy(d.ReasoningContent) || truthy(d.Refusal)
}

// serverTimes reads the times that vLLM measured of a request itself, of which each
// that is no number is not known. It is nil for what is no object.
func serverTimes(raw json.RawMessage) *metrics.ServerTimes {
	var members struct {
		Queue json.RawMessage `json:"queue_time_ms"`
		TTFT  json.RawMessage `json:"time_to_first_token_ms"`
	}
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &members) != nil {
		return nil
	}
	return &metrics.ServerTimes{QueueMS: asNumber(members.Queue), TTFTMS: asNumber(members.TTFT)}
}

// asNumber is the number that raw is; nil for anything else.
func asNumber(raw json.RawMessage) *float64 {
	var v float64
	if isNull(raw) || json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return &v
}

// asText is the text that raw is, or that its parts are, as Mistral's API sends them
// where the model reasons; empty for anything else.
func asText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts few[struct {
		Text string `json:"text"`
	}]
	_ = json.Unmarshal(raw, &parts)
	for _, part := range parts {
		s += part.Text
	}
	return s
}

// asCount is the count that raw is; 0 for what is none, and whether it is there.
func asCount(raw json.RawMessage) (n int, there bool) {
	if isNull(raw) {
		return 0, false
	}
	if err := json.Unmarshal(raw, &n); err != nil || n < 0 || n > maxCount {
		return 0, false
	}
	return n, true
}
