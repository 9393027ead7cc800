package metrics

import "github.com/servebench/servebench/metrics/record"

// Reasoning says what of the answers to completed requests was reasoning. Its zero value is of answers
// without any.
type Reasoning struct {
	Answers int // that began with reasoning
	Only    int // the part of Answers that had nothing else

	Counted int // answers whose reasoning the server counted
	Tokens  int // their reasoning tokens
	Output  int // all of their output tokens
}

func (n Reasoning) plus(other Reasoning) Reasoning {
	return Reasoning{n.Answers + other.Answers, n.Only + other.Only, n.Counted + other.Counted, n.Tokens + other.Tokens,
		n.Output + other.Output}
}

// addReasoning adds a completed request. Until one reasons, TTFO is ContentTTFT, so that it costs nothing
// without reasoning.
func (t *Truth) addReasoning(r *record.Record) {
	n := &t.Reasoning
	if r.Tokens.OutReasoned > 0 {
		n.Counted++
		n.Tokens += min(r.Tokens.OutReasoned, r.Tokens.Out)
		n.Output += r.Tokens.Out
	}
	if !r.Answer.Reasoned {
		return
	}
	if n.Answers == 0 {
		t.TTFO.Merge(&t.ContentTTFT)
	}
	n.Answers++
	if r.Times.FirstOutput == 0 {
		n.Only++
	}
}

// mergeReasoning adds the reasoning of other requests. ContentTTFT must not have them yet.
func (t *Truth) mergeReasoning(other *Truth) {
	if t.Reasoning.Answers == 0 && other.Reasoning.Answers > 0 {
		t.TTFO.Merge(&t.ContentTTFT)
	}
	switch {
	case other.Reasoning.Answers > 0:
		t.TTFO.Merge(&other.TTFO)
	case t.Reasoning.Answers > 0:
		t.TTFO.Merge(&other.ContentTTFT)
	}
	t.Reasoning = t.Reasoning.plus(other.Reasoning)
}
