package chunk

import (
	"bytes"

	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/scan"
)

// The members that a load test looks at. The code takes their values by position.
var (
	chunkNames = []string{"object", "error", "choices", "usage", "metrics"}
	usageNames = []string{"prompt_tokens", "completion_tokens", "prompt_tokens_details", "completion_tokens_details",
		"reasoning_tokens"}
	cachedNames = []string{"cached_tokens"}
	reasonNames = []string{"reasoning_tokens"}
	choiceNames = []string{"index", "text", "delta", "finish_reason"}
	deltaNames  = []string{"role", "reasoning", "reasoning_content", "content", "refusal", "function_call", "tool_calls"}
)

// scan reads data without allocating and reports whether it is sure to have found what decode would
// find. It assumes that data is JSON if its brackets and quotes match.
func (d *Decoder) scan(data []byte, p *exchange.Piece) bool {
	p.Reset()
	d.strings, d.varying, d.escaped = 0, nil, false
	var v [5][]byte
	if !scan.Members(data, chunkNames, v[:]) {
		return false
	}
	object, failure, choices, counts, times := v[0], v[1], v[2], v[3], v[4]
	if !scan.IsNull(failure) || !scan.IsNull(times) || string(object) == `"error"` || bytes.IndexByte(object, '\\') >= 0 {
		return false
	}
	each := func(raw []byte) bool { return d.scanChoice(raw, p) }
	if !scanUsage(counts, &p.Usage) || !scan.IsNull(choices) && !scan.Elements(choices, each) {
		return false
	}
	d.learn(data, p, counts)
	return true
}

func scanUsage(raw []byte, u *exchange.Usage) bool {
	if scan.IsNull(raw) {
		return true
	}
	var v [5][]byte
	if !scan.Members(raw, usageNames, v[:]) || !scan.Count(v[0], &u.In) || !scan.Count(v[1], &u.Out) {
		return false
	}
	var cached [1][]byte
	if !scan.IsNull(v[2]) && (!scan.Members(v[2], cachedNames, cached[:]) || !scan.Count(cached[0], &u.Cached)) {
		return false
	}
	var reasoned [1][]byte
	if !scan.IsNull(v[3]) && (!scan.Members(v[3], reasonNames, reasoned[:]) || !scan.Count(reasoned[0], &u.Reasoned)) ||
		u.Reasoned == 0 && !scan.Count(v[4], &u.Reasoned) {
		return false
	}
	u.Given, u.HasCached = scan.Truthy(raw), !scan.IsNull(cached[0])
	u.HasIn, u.HasOut = !scan.IsNull(v[0]), !scan.IsNull(v[1])
	return true
}

func (d *Decoder) scanChoice(raw []byte, p *exchange.Piece) bool {
	var v [4][]byte
	if !scan.Members(raw, choiceNames, v[:]) {
		return false
	}
	index, text, delta, finish := v[0], v[1], v[2], v[3]
	p.Index = 0
	generated := &p.Text
	if d.Deltas {
		generated = nil
	}
	if !scan.Count(index, &p.Index) || !d.scanText(text, generated, p) || !d.scanDelta(delta, scan.Truthy(text), p) {
		return false
	}
	p.Chunk = true
	if scan.IsNull(finish) || string(finish) == `""` {
		return true
	}
	p.Finish = scan.Plain(finish)
	return p.Finish != nil
}

// scanDelta reads the delta of a choice. text says whether the choice also has a text.
func (d *Decoder) scanDelta(raw []byte, text bool, p *exchange.Piece) bool {
	var v [7][]byte
	if !scan.IsNull(raw) && !scan.Members(raw, deltaNames, v[:]) {
		return false
	}
	delta := wireDelta{Role: v[0], Reasoning: v[1], ReasoningContent: v[2], Content: v[3], Refusal: v[4],
		FunctionCall: v[5], ToolCalls: v[6]}
	d.choice(&delta, text, p)
	var content *[]byte
	if d.Deltas {
		content = &p.Text
	}
	return d.scanText(delta.Content, content, p) && d.scanText(delta.Reasoning, &p.Thought, p) &&
		d.scanText(delta.ReasoningContent, &p.Thought, p) && d.scanText(delta.Refusal, nil, p)
}

// scanText reads a text. It becomes what to points to, unless to is nil, or has a text, or this is
// not the first choice.
func (d *Decoder) scanText(raw []byte, to *[]byte, p *exchange.Piece) bool {
	if scan.IsNull(raw) {
		return true
	}
	s := scan.Plain(raw)
	if s == nil {
		var ok bool
		if s, ok = p.Unescaped(raw); !ok {
			return false
		}
		d.escaped = true
	}
	if len(s) == 0 {
		return true
	}
	d.strings++
	d.varying = s
	if to != nil && *to == nil && !p.Chunk {
		*to = s
	}
	return true
}
