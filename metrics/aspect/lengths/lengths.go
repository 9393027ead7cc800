// Package lengths compares the lengths of a run's answers with what was asked for.
package lengths

import (
	"cmp"
	"slices"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/tally"
)

// Lengths compares the output tokens of completed requests with the requested number: there may not
// be more, and with ignore_eos not fewer. An answer that ended for its length has all of them. For
// vLLM's client, an answer of any length is a success. An answer that the server did not count may
// only be too long, by the tokenizer and by its chunks. Its zero value has no requests.
type Lengths struct {
	Of      int // requests that were compared
	Short   int // with fewer tokens than requested
	Missing int // tokens that all the short ones lack together
	Long    int // with more
	Extra   int // tokens that all the long ones have too many
	// Cut are the short ones that ended for their length, as the server says, and CutBy the tokens that
	// these lack together.
	Cut     int
	CutBy   int
	Unsure  int           // others, whose length nobody knows
	Over    int           // of Unsure, by the tokenizer
	Reasons tally.Reasons // the short ones by their finish reason
}

// Kind is the aspect as the list has it.
var Kind = &metrics.Kind{
	Name: "lengths", New: func(*metrics.Header) metrics.Aspect { return new(Lengths) }, Facts: facts, Text: text,
}

func facts(s *metrics.Summary) []metrics.Fact {
	l := of(s)
	if l.Of == 0 {
		return nil
	}
	return []metrics.Fact{
		{Key: "answers_of_known_length", Value: l.Of}, {Key: "short_answers", Value: l.Short},
		{Key: "missing_tokens", Value: l.Missing}, {Key: "long_answers", Value: l.Long},
		{Key: "extra_tokens", Value: l.Extra},
	}
}

const text = `Output length vs requested
	{{with .short_answers}}{{.}} of {{$.answers_of_known_length}} shorter,
	{{counted $.missing_tokens "token"}} missing;{{end}}
	{{with .long_answers}}{{.}} of {{$.answers_of_known_length}} longer,
	{{counted $.extra_tokens "extra token"}}{{end}}`

// of is the aspect of a run, by what it allows.
func of(s *metrics.Summary) Lengths { return metrics.View[Lengths](s).against(&s.Header.Config) }

// Merge adds another shard's requests.
func (l *Lengths) Merge(o metrics.Aspect) {
	other := o.(*Lengths)
	l.Of += other.Of
	l.Short += other.Short
	l.Missing += other.Missing
	l.Long += other.Long
	l.Extra += other.Extra
	l.Cut += other.Cut
	l.CutBy += other.CutBy
	l.Unsure += other.Unsure
	l.Over += other.Over
	l.Reasons.Merge(other.Reasons)
}

// Add adds a request.
func (l *Lengths) Add(r *record.Record) {
	if r.Result.Class != record.OK || r.Tokens.OutAsked <= 0 {
		return
	}
	out := r.Tokens.Out
	if r.Tokens.Uncounted {
		if out = min(out, r.Answer.Chunks.Len()-record.BlankChunks); out <= r.Tokens.OutAsked {
			l.Unsure++
			if r.Tokens.Out > r.Tokens.OutAsked+1+r.Tokens.OutAsked/record.TokenTolerance {
				l.Over++
			}
			return
		}
	}
	l.Of++
	switch missing := r.Tokens.OutAsked - out; {
	case missing > 0:
		l.Short++
		l.Missing += missing
		l.Reasons.Count(cmp.Or(r.Answer.Finish, "none"), 1)
		// Reasoning may not count.
		if missing > 1 && r.Tokens.OutReasoned == 0 && slices.Contains(fullLength, r.Answer.Finish) {
			l.Cut++
			l.CutBy += missing
		}
	case missing < 0:
		l.Long++
		l.Extra -= missing
	}
}

// fullLength are the finish reasons of answers that ended because they were as long as they may be: of vLLM and
// OpenAI, of Anthropic, and of the Responses API.
var fullLength = []string{"length", "max_tokens", "max_output_tokens"}

// against is l for a run with Config c, which may allow other lengths.
func (l Lengths) against(c *metrics.Config) Lengths {
	if c.Traits.OwnLength {
		return Lengths{}
	}
	if !c.IgnoreEOS {
		l.Short, l.Missing, l.Reasons = 0, 0, nil
	}
	return l
}
