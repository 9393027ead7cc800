// Package reasoning is when users began to see something: what of the answers of a run was reasoning, and the latencies
// to and from the first content.
package reasoning

import (
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// Reasoning says what of the answers to completed requests was reasoning, and when their content came. Its zero value
// has no answers.
type Reasoning struct {
	Answers int // that began with reasoning
	Only    int // the part of Answers that had nothing else

	Counted int // answers whose reasoning the server counted
	Tokens  int // their reasoning tokens
	Output  int // all of their output tokens

	ContentTTFT metrics.Distribution // from Sent to the first chunk with content
	TTFO        metrics.Distribution // to output that is not reasoning; empty if none reasoned
	ContentTPOT metrics.Distribution // after that chunk: (E2EL − ContentTTFT) / (Out − 1)
}

// Kind is the aspect as the list has it.
var Kind = &metrics.Kind{Name: "reasoning", New: newReasoning, Facts: facts, Text: text}

func newReasoning(*metrics.Header) metrics.Aspect {
	return &Reasoning{
		ContentTTFT: metrics.PerRequest(), TTFO: metrics.PerRequest(), ContentTPOT: metrics.PerRequest(),
	}
}

// Of is the aspect of a run.
func Of(s *metrics.Summary) *Reasoning { return metrics.View[Reasoning](s) }

func facts(s *metrics.Summary) (all []metrics.Fact) {
	n := Of(s)
	all = append(metrics.Some("answers_with_reasoning", n.Answers), metrics.Some("answers_of_reasoning_only", n.Only)...)
	if n.Counted > 0 {
		all = append(all, metrics.Fact{Key: "answers_with_counted_reasoning", Value: n.Counted},
			metrics.Fact{Key: "reasoning_tokens", Value: n.Tokens},
			metrics.Fact{Key: "answer_tokens", Value: n.Output - n.Tokens})
	}
	return all
}

const text = `Reasoning
	{{with .answers_with_reasoning}}{{.}} of {{$.run.Completed}} answers begin with it
	{{- with $.answers_of_reasoning_only}}, {{.}} have nothing else{{end}};{{end}}
	{{with .answers_with_counted_reasoning}}{{counted $.reasoning_tokens "reasoning token"}}, {{counted $.answer_tokens "answer token"}}{{end}}`

// Latency is one of the latencies to or from what a user sees; nil for others. There is a TTFO if an answer began
// with reasoning: TTFT to the first content is the same without.
func (n *Reasoning) Latency(name string) *metrics.Distribution {
	switch {
	case name == "content_ttft":
		return &n.ContentTTFT
	case name == "content_tpot":
		return &n.ContentTPOT
	case name == "ttfo" && n.Answers > 0:
		return &n.TTFO
	}
	return nil
}

// Distributions are all latencies.
func (n *Reasoning) Distributions() []*metrics.Distribution {
	return []*metrics.Distribution{&n.ContentTTFT, &n.TTFO, &n.ContentTPOT}
}

// Add adds a completed request. Until one reasons, TTFO is ContentTTFT, so that it costs nothing
// without reasoning.
func (n *Reasoning) Add(r *record.Record) {
	if !r.Answered() {
		return
	}
	if r.Tokens.OutReasoned > 0 {
		n.Counted++
		n.Tokens += min(r.Tokens.OutReasoned, r.Tokens.Out)
		n.Output += r.Tokens.Out
	}
	if r.Answer.Reasoned {
		n.reasoned(r)
	}
	if ttfo, there := r.TTFO(); there && n.Answers > 0 {
		n.TTFO.Add(ttfo.Seconds())
	}
	if r.Times.FirstContent <= 0 || r.Answer.Unstreamed {
		return
	}
	content := r.Times.FirstContent - r.Times.Sent
	n.ContentTTFT.Add(content.Seconds())
	if r.Tokens.Out > 1 {
		n.ContentTPOT.Add(((r.E2EL() - content) / time.Duration(r.Tokens.Out-1)).Seconds())
	}
}

// reasoned adds an answer that began with reasoning.
func (n *Reasoning) reasoned(r *record.Record) {
	if n.Answers == 0 {
		n.TTFO.Merge(&n.ContentTTFT)
	}
	n.Answers++
	if r.Times.FirstOutput == 0 {
		n.Only++
	}
}

// Merge adds another shard's requests.
func (n *Reasoning) Merge(o metrics.Aspect) {
	other := o.(*Reasoning)
	if n.Answers == 0 && other.Answers > 0 {
		n.TTFO.Merge(&n.ContentTTFT)
	}
	switch {
	case other.Answers > 0:
		n.TTFO.Merge(&other.TTFO)
	case n.Answers > 0:
		n.TTFO.Merge(&other.ContentTTFT)
	}
	n.ContentTTFT.Merge(&other.ContentTTFT)
	n.ContentTPOT.Merge(&other.ContentTPOT)
	n.Answers, n.Only = n.Answers+other.Answers, n.Only+other.Only
	n.Counted, n.Tokens, n.Output = n.Counted+other.Counted, n.Tokens+other.Tokens, n.Output+other.Output
}
