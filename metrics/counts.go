package metrics

import "github.com/servebench/servebench/metrics/record"

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

func (c Counts) plus(other Counts) Counts {
	return Counts{
		Of: c.Of + other.Of, Tokenizer: c.Tokenizer + other.Tokenizer, Nobody: c.Nobody + other.Nobody,
		Apart: c.Apart + other.Apart, Ours: c.Ours + other.Ours, Theirs: c.Theirs + other.Theirs,
		NoInput: c.NoInput + other.NoInput, Lost: c.Lost + other.Lost, Cached: c.Cached + other.Cached,
	}
}

// add counts a completed request. An answer to a request for one token has one token.
func (c *Counts) add(r *record.Record) {
	c.Of++
	c.Cached += min(r.Tokens.Cached, r.Tokens.In)
	if r.Tokens.In == 0 && r.Tokens.InAsked > 0 {
		c.NoInput++
		c.Lost += r.Tokens.InAsked
	}
	if w := r.Tokens.WithOutput; r.Tokens.Uncounted && w != nil &&
		promptTolerance*max(w.Out-r.Tokens.Out, r.Tokens.Out-w.Out) > max(w.Out, promptTolerance) {
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
