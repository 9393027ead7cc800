package openai

import (
	"bytes"

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
func (p *piece) scan(data []byte) bool {
	p.reset()
	var v [5][]byte
	if !scan.Members(data, chunkNames, v[:]) {
		return false
	}
	object, failure, choices, counts, times := v[0], v[1], v[2], v[3], v[4]
	if !scan.IsNull(failure) || !scan.IsNull(times) || string(object) == `"error"` || bytes.IndexByte(object, '\\') >= 0 {
		return false
	}
	if !p.scanUsage(counts) || !scan.IsNull(choices) && !scan.Elements(choices, p.scanChoice) {
		return false
	}
	p.shape.learn(data, p, counts)
	return true
}

func (p *piece) scanUsage(raw []byte) bool {
	if scan.IsNull(raw) {
		return true
	}
	var v [5][]byte
	u := &p.usage
	if !scan.Members(raw, usageNames, v[:]) || !scan.Count(v[0], &u.in) || !scan.Count(v[1], &u.out) {
		return false
	}
	var cached [1][]byte
	if !scan.IsNull(v[2]) && (!scan.Members(v[2], cachedNames, cached[:]) || !scan.Count(cached[0], &u.cached)) {
		return false
	}
	var reasoned [1][]byte
	if !scan.IsNull(v[3]) && (!scan.Members(v[3], reasonNames, reasoned[:]) || !scan.Count(reasoned[0], &u.reasoned)) ||
		u.reasoned == 0 && !scan.Count(v[4], &u.reasoned) {
		return false
	}
	u.given, u.hasCached = scan.Truthy(raw), !scan.IsNull(cached[0])
	u.hasIn, u.hasOut = !scan.IsNull(v[0]), !scan.IsNull(v[1])
	return true
}

func (p *piece) scanChoice(raw []byte) bool {
	var v [4][]byte
	if !scan.Members(raw, choiceNames, v[:]) {
		return false
	}
	index, text, delta, finish := v[0], v[1], v[2], v[3]
	p.index = 0
	generated := &p.text
	if p.api.deltas {
		generated = nil
	}
	if !scan.Count(index, &p.index) || !p.scanText(text, generated) || !p.scanDelta(delta, scan.Truthy(text)) {
		return false
	}
	p.choices = true
	if scan.IsNull(finish) || string(finish) == `""` {
		return true
	}
	p.finish = scan.Plain(finish)
	return p.finish != nil
}

// scanDelta reads the delta of a choice. text says whether the choice also has a text.
func (p *piece) scanDelta(raw []byte, text bool) bool {
	var v [7][]byte
	if !scan.IsNull(raw) && !scan.Members(raw, deltaNames, v[:]) {
		return false
	}
	d := wireDelta{Role: v[0], Reasoning: v[1], ReasoningContent: v[2], Content: v[3], Refusal: v[4], FunctionCall: v[5],
		ToolCalls: v[6]}
	p.choice(&d, text)
	var content *[]byte
	if p.api.deltas {
		content = &p.text
	}
	return p.scanText(d.Content, content) && p.scanText(d.Reasoning, &p.thought) &&
		p.scanText(d.ReasoningContent, &p.thought) && p.scanText(d.Refusal, nil)
}

// scanText reads a text. It becomes what to points to, unless to is nil, or has a text, or this is
// not the first choice.
func (p *piece) scanText(raw []byte, to *[]byte) bool {
	if scan.IsNull(raw) {
		return true
	}
	s := scan.Plain(raw)
	if s == nil {
		start, ok := len(p.scratch), false
		if p.scratch, ok = scan.AppendUnquoted(p.scratch, raw); !ok {
			return false
		}
		s = p.scratch[start:]
	}
	if len(s) == 0 {
		return true
	}
	p.strings++
	p.varying = s
	if to != nil && *to == nil && !p.choices {
		*to = s
	}
	return true
}
