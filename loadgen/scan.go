package loadgen

import "bytes"

// The members that a load test looks at. Their values are taken by position.
var (
	chunkNames  = []string{"object", "error", "choices", "usage"}
	usageNames  = []string{"prompt_tokens", "completion_tokens"}
	choiceNames = []string{"index", "text", "delta", "finish_reason"}
	deltaNames  = []string{"reasoning", "reasoning_content", "content", "refusal", "function_call", "tool_calls"}
	toolNames   = []string{"function"}
	callNames   = []string{"name", "arguments"}
)

// scan reads data without allocating and reports whether it is sure to have
// found what decode would find. It presumes that data is JSON once its brackets
// and quotes match.
func (p *piece) scan(data []byte) bool {
	p.reset()
	var v [4][]byte
	if !members(data, chunkNames, v[:]) {
		return false
	}
	object, failure, choices, counts := v[0], v[1], v[2], v[3]
	if !isNull(failure) || string(object) == `"error"` || bytes.IndexByte(object, '\\') >= 0 {
		return false
	}
	if !p.scanUsage(counts) || !isNull(choices) && !elements(choices, p.scanChoice) {
		return false
	}
	p.shape.learn(data, p, counts)
	return true
}

func (p *piece) scanUsage(raw []byte) bool {
	if isNull(raw) {
		return true
	}
	var v [2][]byte
	return members(raw, usageNames, v[:]) && count(v[0], &p.usage.in) && count(v[1], &p.usage.out)
}

func (p *piece) scanChoice(raw []byte) bool {
	var v [4][]byte
	if !members(raw, choiceNames, v[:]) {
		return false
	}
	index, text, delta, finish := v[0], v[1], v[2], v[3]
	p.choices, p.index = true, 0
	if !count(index, &p.index) || !p.scanString(text) || !p.scanDelta(delta) {
		return false
	}
	if isNull(finish) || string(finish) == `""` {
		return true
	}
	p.finish = plain(finish)
	return p.finish != nil
}

// scanDelta adds output in the order of wireDelta.output.
func (p *piece) scanDelta(raw []byte) bool {
	if isNull(raw) {
		return true
	}
	var v [6][]byte
	if !members(raw, deltaNames, v[:]) {
		return false
	}
	reasoning, older, content, refusal, call, calls := v[0], v[1], v[2], v[3], v[4], v[5]
	if isNull(reasoning) || string(reasoning) == `""` {
		reasoning = older
	}
	return p.scanString(reasoning) && p.scanString(content) && p.scanString(refusal) &&
		p.scanCall(call) && (isNull(calls) || elements(calls, p.scanTool))
}

func (p *piece) scanTool(raw []byte) bool {
	var v [1][]byte
	return members(raw, toolNames, v[:]) && p.scanCall(v[0])
}

func (p *piece) scanCall(raw []byte) bool {
	if isNull(raw) {
		return true
	}
	var v [2][]byte
	return members(raw, callNames, v[:]) && p.scanString(v[0]) && p.scanString(v[1])
}

// scanString adds a string to the output.
func (p *piece) scanString(raw []byte) bool {
	if isNull(raw) {
		return true
	}
	if s := plain(raw); s != nil {
		p.add(s)
		return true
	}
	var ok bool
	p.scratch, ok = appendUnquoted(append(p.scratch[:0], p.text...), raw)
	p.text = p.scratch
	return ok
}
