// Package counts is who counted the tokens of a run: the server, the client's tokenizer, or nobody.
package counts

import (
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// Counts says who counted the output tokens of completed requests.
type Counts struct {
	Of int // requests
	// Tokenizer are those that the client's tokenizer counted, because the server did not.
	Tokenizer int
	// Nobody are those that nobody counted: each counts as one token.
	Nobody int

	// Apart are requests of which the server counted another number of tokens, where vLLM's client does not
	// look. Ours are the tokens that count in them, and Theirs the server's.
	Apart  int
	Ours   int
	Theirs int

	// NoInput are those with a prompt of which the server counted no token, and Lost the tokens that
	// the dataset counted in them: no total has these.
	NoInput int
	Lost    int

	// Cached are the prompt tokens of all of them that the server found in its prefix cache, by its
	// usage; 0 if it does not say.
	Cached int
}

// Kind is the aspect as the list has it.
var Kind = &metrics.Kind{
	Name: "counts", New: func(*metrics.Header) metrics.Aspect { return new(Counts) }, Facts: facts, Text: text,
}

func facts(s *metrics.Summary) (all []metrics.Fact) {
	if n := Of(s); n.Tokenizer+n.Nobody > 0 {
		all = append(all, metrics.Fact{Key: "answers_counted_by_tokenizer", Value: n.Tokenizer},
			metrics.Fact{Key: "answers_counted_by_nobody", Value: n.Nobody})
	}
	if hits, of := PrefixCache(s); of > 0 {
		all = append(all, metrics.Fact{Key: "prefix_cache_queries", Value: of},
			metrics.Fact{Key: "prefix_cache_hits", Value: hits})
	}
	return all
}

const text = `Prefix cache hits
	{{with .prefix_cache_queries}}{{share $.prefix_cache_hits .}} % of the prompt tokens, {{$.prefix_cache_hits}} of {{.}}{{end}}`

// Of is the aspect of a run, by its tokenizer.
func Of(s *metrics.Summary) Counts { return metrics.View[Counts](s).by(s.Header.Config.Tokenizer) }

// PrefixCache is how many prompt tokens the server had in its prefix cache, and out of how many:
// for the completed requests if their usage has it, else for everything that the server's own
// counters saw during the run. Both are 0 if unknown.
func PrefixCache(s *metrics.Summary) (hits, of int64) {
	switch cached := metrics.View[Counts](s).Cached; {
	case cached > 0:
		return int64(cached), int64(s.Totals.Input)
	case s.Evidence != nil:
		return s.Evidence.Server.PrefixHits, s.Evidence.Server.PrefixQueries
	}
	return 0, 0
}

// Merge adds another shard's requests.
func (c *Counts) Merge(o metrics.Aspect) {
	other := o.(*Counts)
	c.Of, c.Tokenizer, c.Nobody = c.Of+other.Of, c.Tokenizer+other.Tokenizer, c.Nobody+other.Nobody
	c.Apart, c.Ours, c.Theirs = c.Apart+other.Apart, c.Ours+other.Ours, c.Theirs+other.Theirs
	c.NoInput, c.Lost, c.Cached = c.NoInput+other.NoInput, c.Lost+other.Lost, c.Cached+other.Cached
}

// Add counts a completed request. An answer to a request for one token has one token.
func (c *Counts) Add(r *record.Record) {
	if !r.Answered() {
		return
	}
	c.Of++
	c.Cached += min(r.Tokens.Cached, r.Tokens.In)
	if r.Tokens.In == 0 && r.Tokens.InAsked > 0 {
		c.NoInput++
		c.Lost += r.Tokens.InAsked
	}
	if w := r.Tokens.WithOutput; r.Tokens.Uncounted && w != nil &&
		record.TokenTolerance*max(w.Out-r.Tokens.Out, r.Tokens.Out-w.Out) > max(w.Out, record.TokenTolerance) {
		c.Apart++
		c.Ours += r.Tokens.Out
		c.Theirs += w.Out
	}
	switch {
	case !r.Tokens.Uncounted || r.Tokens.OutAsked == 1:
	case r.Tokens.WithOutput != nil && r.Tokens.Out == r.Tokens.WithOutput.Out:
		// The server's, in a place that vLLM's client ignores.
	case r.Tokens.Out == 1:
		c.Nobody++
	default:
		c.Tokenizer++
	}
}

// by is c for a run with that tokenizer, which then also counts answers of one token.
func (c Counts) by(tokenizer string) Counts {
	if tokenizer != "" {
		c.Tokenizer, c.Nobody = c.Tokenizer+c.Nobody, 0
	}
	return c
}
