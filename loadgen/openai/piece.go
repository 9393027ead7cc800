package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"

	"github.com/servebench/servebench/loadgen/api/scan"
	"github.com/servebench/servebench/metrics/record"
)

// A piece is what a load test needs of one event of a streamed answer.
type piece struct {
	choices bool   // its list of choices is not empty: it is a chunk
	index   int    // of its last choice
	output  bool   // vLLM's client counts it as output
	content bool   // a choice has text, reasoning, a refusal or a call
	answers bool   // a choice has one of these other than reasoning
	text    []byte // what its first choice adds to the generated text
	thought []byte // what its first choice adds to the reasoning
	calls   []byte // tool calls of its first choice, as a raw list, or one as an object; nil without
	finish  []byte // finish reason of the last choice that has one
	usage   usage
	server  *record.ServerTimes // nil if the event has none
	failed  bool                // the event is, or holds, an error object

	// of APIs that end an answer with an event
	last  bool   // it is the end of the answer
	reply string // the id of the answer, if the server keeps it

	api *Protocol // of the stream; set by the reader, kept by reads

	strings int    // number of its texts that are not empty
	varying []byte // the last of them, if it has no escapes
	scratch []byte // memory for a text with escapes
	shape   shape  // of an earlier event
}

// usage is the server's count of tokens.
type usage struct {
	given         bool // it is an object with members
	in, out       int  // 0 if missing: some servers send zeros until they know
	hasIn, hasOut bool // whether they are there, even as 0
	reasoned      int  // output tokens that are reasoning; 0 if missing
	cached        int  // prompt tokens found in the server's prefix cache; 0 if missing
	hasCached     bool // whether it is there, even as 0
}

// take merges more usage as vLLM's client does: the last one counts, but the prompt's tokens stay
// if it has none.
func (u *usage) take(more usage) {
	if !more.hasIn {
		more.in, more.hasIn = u.in, u.hasIn
	}
	*u = more
}

// into sets the counts that are given.
func (u *usage) into(in, out *int) {
	if u.hasIn {
		*in = u.in
	}
	if u.given {
		*out = u.out
	}
}

// read decodes the JSON of one event. The result is valid as long as data, and until the next read.
func (p *piece) read(data []byte) error { return p.api.event(p, data) }

// readChunk decodes the JSON of a chunk of completions or of a chat.
func readChunk(p *piece, data []byte) error {
	if p.repeat(data) || p.scan(data) {
		return nil
	}
	return p.decode(data)
}

// repeat reads an event that has the shape of the previous one. It reports whether it has that
// shape.
func (p *piece) repeat(data []byte) bool {
	text, counts, ok := p.shape.match(data)
	if !ok {
		return false
	}
	p.reset()
	p.choices, p.content, p.index, p.output, p.answers = true, true, p.shape.index, p.shape.output, p.shape.answers
	switch {
	case p.shape.generated:
		p.text = text
	case p.shape.reasoned:
		p.thought = text
	}
	return p.scanUsage(counts)
}

func (p *piece) reset() {
	p.choices, p.index, p.output, p.content, p.answers, p.text, p.finish = false, 0, false, false, false, nil, nil
	p.thought, p.calls, p.last, p.reply = nil, nil, false, ""
	p.usage, p.server, p.failed = usage{}, nil, false
	p.strings, p.varying, p.scratch = 0, nil, p.scratch[:0]
}

// decode is read with encoding/json, for events that scan is not sure about. A member of the wrong
// type counts as missing.
func (p *piece) decode(data []byte) error {
	p.reset()
	var w wireChunk
	var odd *json.UnmarshalTypeError
	if err := json.Unmarshal(data, &w); err != nil && !errors.As(err, &odd) {
		return err
	}
	p.failed = w.Object == "error" || scan.Truthy(w.Error)
	p.usage = usageOf(w.Usage)
	p.server = serverTimes(w.Metrics)
	for _, c := range w.Choices {
		p.index = c.Index
		text := c.Text
		if p.api.deltas {
			text = c.Delta.Content
		}
		p.choice(&c.Delta, scan.Truthy(c.Text))
		if !p.choices {
			p.text = []byte(asText(text))
			p.thought = []byte(cmp.Or(asText(c.Delta.Reasoning), asText(c.Delta.ReasoningContent)))
		}
		p.choices = true
		if c.FinishReason != "" {
			p.finish = []byte(c.FinishReason)
		}
	}
	return nil
}

// choice notes whether the current choice carries something, and, if it is the first choice,
// whether vLLM's client counts the event as output, and its calls.
func (p *piece) choice(d *wireDelta, text bool) {
	answers := text || d.answers()
	p.answers = p.answers || answers
	p.content = p.content || answers || d.reasons()
	if !p.choices {
		p.output = p.api.counted || d.isOutput()
		if scan.Truthy(d.ToolCalls) {
			p.calls = d.ToolCalls
		}
	}
}

// A wireChunk is the JSON of an event. The types of go-openai have no reasoning, and none covers
// both endpoints.
type wireChunk struct {
	Object  string               `json:"object"`
	Error   json.RawMessage      `json:"error"`
	Choices scan.Few[wireChoice] `json:"choices"`
	Usage   json.RawMessage      `json:"usage"`
	Metrics json.RawMessage      `json:"metrics"`
}

// usageOf returns the counts in raw.
func usageOf(raw json.RawMessage) usage {
	var members struct {
		In  json.RawMessage `json:"prompt_tokens"`
		Out json.RawMessage `json:"completion_tokens"`

		Details json.RawMessage `json:"prompt_tokens_details"`

		OutDetails json.RawMessage `json:"completion_tokens_details"`
	}
	_ = json.Unmarshal(raw, &members) // what is not an object has no counts
	found := usage{given: scan.Truthy(raw) && raw[0] == '{'}
	found.in, found.hasIn = scan.CountOf(members.In)
	found.out, found.hasOut = scan.CountOf(members.Out)
	found.cached, found.hasCached = cachedOf(members.Details)
	found.reasoned = cmp.Or(reasonedOf(members.OutDetails), reasonedOf(raw))
	return found
}

// reasonedOf is the number of reasoning tokens in the details of an output, 0 if it is missing.
func reasonedOf(raw json.RawMessage) int {
	var details struct {
		Reasoned json.RawMessage `json:"reasoning_tokens"`
	}
	_ = json.Unmarshal(raw, &details) // what is not an object has no details
	n, _ := scan.CountOf(details.Reasoned)
	return n
}

// cachedOf is the number of cached tokens in the details of a prompt, and whether it is there.
func cachedOf(raw json.RawMessage) (n int, there bool) {
	var details struct {
		Cached json.RawMessage `json:"cached_tokens"`
	}
	_ = json.Unmarshal(raw, &details) // what is not an object has no details
	return scan.CountOf(details.Cached)
}

type wireChoice struct {
	Index        int             `json:"index"`
	Text         json.RawMessage `json:"text"`
	Delta        wireDelta       `json:"delta"`
	FinishReason finishReason    `json:"finish_reason"`
}

// A wireDelta is what a chunk of a chat adds, each member as raw JSON; nil if missing.
type wireDelta struct {
	Role             json.RawMessage `json:"role"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Content          json.RawMessage `json:"content"`
	Refusal          json.RawMessage `json:"refusal"`
	FunctionCall     json.RawMessage `json:"function_call"`
	ToolCalls        json.RawMessage `json:"tool_calls"`
}

// isOutput is the rule of vLLM's client since 0.33.0: one of the members that it knows is not
// empty, or the content is an empty text and there is no role.
func (d *wireDelta) isOutput() bool {
	return scan.Truthy(d.Content) || scan.Truthy(d.Reasoning) || scan.Truthy(d.ToolCalls) ||
		scan.Truthy(d.FunctionCall) || string(d.Content) == `""` && d.Role == nil
}

// answers reports whether the delta holds output of any kind other than reasoning.
func (d *wireDelta) answers() bool {
	return scan.Truthy(d.Content) && !thinks(d.Content) || scan.Truthy(d.ToolCalls) ||
		scan.Truthy(d.FunctionCall) || scan.Truthy(d.Refusal)
}

// A wirePart is a part of a content that is a list.
type wirePart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// thinks reports whether a content is a list of reasoning alone, as Mistral's API sends it.
func thinks(raw json.RawMessage) bool {
	if len(raw) == 0 || raw[0] != '[' {
		return false
	}
	var parts scan.Few[wirePart]
	_ = json.Unmarshal(raw, &parts) // a list it is
	return !slices.ContainsFunc(parts, func(p wirePart) bool { return p.Type != "thinking" })
}

// reasons reports whether the delta holds reasoning. Some servers use an older name for it.
func (d *wireDelta) reasons() bool {
	return scan.Truthy(d.Reasoning) || scan.Truthy(d.ReasoningContent) || scan.Truthy(d.Content) && thinks(d.Content)
}

// serverTimes reads the times that vLLM itself measured for a request; those that are not numbers
// are unknown. It is nil if raw is not an object.
func serverTimes(raw json.RawMessage) *record.ServerTimes {
	var members struct {
		Queue json.RawMessage `json:"queue_time_ms"`
		TTFT  json.RawMessage `json:"time_to_first_token_ms"`

		Generation json.RawMessage `json:"generation_time_ms"`
		MeanITL    json.RawMessage `json:"mean_itl_ms"`
	}
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &members) != nil {
		return nil
	}
	return &record.ServerTimes{
		QueueMS: scan.Number(members.Queue), TTFTMS: scan.Number(members.TTFT),
		GenerationMS: scan.Number(members.Generation), MeanITLMS: scan.Number(members.MeanITL),
	}
}

// asText is the text in raw, or the texts of its parts, which Mistral's API sends for models that
// reason; empty for anything else.
func asText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts scan.Few[wirePart]
	_ = json.Unmarshal(raw, &parts)
	for _, part := range parts {
		s += part.Text
	}
	return s
}
