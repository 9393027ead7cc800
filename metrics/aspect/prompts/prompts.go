// Package prompts compares the prompts that the server read with the dataset's.
package prompts

import (
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// Prompts compares the prompt tokens that the server counted with the dataset's, over the completed requests
// that open a conversation and carry text alone. Later turns depend on the answers before them: see
// metrics.LaterTurns. Its zero value has no requests.
type Prompts struct {
	Of      int // requests that were compared
	Shorter int // of which the server counted fewer tokens
	Longer  int // more tokens
	Beyond  int // the part of Longer that no chat template explains
	// Asked are the dataset's tokens of the requests of Shorter and Longer, and Read the server's.
	Asked int
	Read  int
	// Least and Most are how many tokens more than the dataset's the server counted, over all of Of.
	Least int
	Most  int
}

// What is no finding. A dataset's text may have a few tokens more or less once it is encoded
// again, and a tokenizer may begin and end each sequence with its own tokens.
const promptSpecial = 8 // tokens a sequence, besides record.TokenTolerance

// Templates of the large models add up to that many tokens to a chat, and to each of its messages.
const (
	TemplateChat    = 64
	TemplateMessage = 8
)

// Kind is the aspect as the list has it.
var Kind = &metrics.Kind{Name: "prompts", New: func(*metrics.Header) metrics.Aspect { return new(Prompts) }}

// of is the aspect of a run.
func of(s *metrics.Summary) *Prompts { return metrics.View[Prompts](s) }

// Add counts a completed request. Of a prompt without any token by the server's count, Counts has the number.
func (p *Prompts) Add(r *record.Record) {
	if !r.Answered() || r.Turn > 0 || r.Tokens.InAsked <= 1 || r.Tokens.In == 0 { // a dataset that cannot count says 1
		return
	}
	sequences := 1
	if c := r.Payload; c != nil {
		if c.Images > 0 || c.Videos > 0 || c.Audio > 0 {
			return
		}
		sequences = max(sequences, c.Inputs)
	}
	apart, allowed := r.Tokens.In-r.Tokens.InAsked, r.Tokens.InAsked/record.TokenTolerance
	if p.Of == 0 {
		p.Least, p.Most = apart, apart
	}
	p.Of++
	p.Least, p.Most = min(p.Least, apart), max(p.Most, apart)
	special := promptSpecial * sequences
	switch {
	case -apart > max(allowed, special/2):
		p.Shorter++
	case apart > max(allowed, special):
		p.Longer++
		if apart > allowed+(TemplateChat+TemplateMessage)*sequences {
			p.Beyond++
		}
	default:
		return
	}
	p.Asked += r.Tokens.InAsked
	p.Read += r.Tokens.In
}

// Merge adds another shard's requests.
func (p *Prompts) Merge(o metrics.Aspect) {
	other := o.(*Prompts)
	switch {
	case other.Of == 0:
		return
	case p.Of == 0:
		*p = *other
		return
	}
	p.Least, p.Most = min(p.Least, other.Least), max(p.Most, other.Most)
	p.Of, p.Shorter, p.Longer = p.Of+other.Of, p.Shorter+other.Shorter, p.Longer+other.Longer
	p.Beyond, p.Asked, p.Read = p.Beyond+other.Beyond, p.Asked+other.Asked, p.Read+other.Read
}
