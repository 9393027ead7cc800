package tokens

import "github.com/servebench/servebench/metrics/record"

// Counts says how the output tokens of completed requests came in chunks. The tokens of each
// chunk are known if the server counted them with every chunk, or if the request has as many tokens
// as chunks, apart from a role and a finish chunk.
type Counts struct {
	Known   int   `json:"known,omitempty"`   // requests whose tokens are known chunk by chunk
	Bundled int   `json:"bundled,omitempty"` // others, with more tokens than chunks
	Fewer   int   `json:"fewer,omitempty"`   // others, with fewer: without usage, or with empty chunks
	Chunks  int64 `json:"chunks,omitempty"`  // that carried tokens, in known and bundled requests
	Blank   int64 `json:"blank,omitempty"`   // that carried none, in known requests
	Tokens  int64 `json:"tokens,omitempty"`  // in known and bundled requests
	Largest int   `json:"largest,omitempty"` // most tokens in one chunk, in known requests
	// Peak is the most output tokens in any second that begins at a multiple of the PeakStep.
	Peak int `json:"peak,omitempty"`
}

// Mean is the mean number of tokens in a chunk, 0 if unknown.
func (c Counts) Mean() float64 {
	if c.Chunks == 0 {
		return 0
	}
	return float64(c.Tokens) / float64(c.Chunks)
}

// Differ reports that a chunk is not a token, so counting chunks does not count tokens. It ignores
// as many requests as Bundle does.
func (c Counts) Differ() bool { return c.Bundle() || c.Largest > 1 }

// Bundle reports that more than one request in a hundred had more tokens than chunks: too many to
// speak of single tokens.
func (c Counts) Bundle() bool { return c.Bundled*100 > c.requests() }

// requests is how many requests were counted.
func (c Counts) requests() int { return c.Known + c.Bundled + c.Fewer }

// plus is the sum of c and other. The peak of both is not known: it is only of one, if the other has no requests.
func (c Counts) plus(other Counts) Counts {
	sum := Counts{
		Known: c.Known + other.Known, Bundled: c.Bundled + other.Bundled, Fewer: c.Fewer + other.Fewer,
		Chunks: c.Chunks + other.Chunks, Blank: c.Blank + other.Blank,
		Tokens: c.Tokens + other.Tokens, Largest: max(c.Largest, other.Largest),
	}
	switch {
	case c.requests() == 0:
		sum.Peak = other.Peak
	case other.requests() == 0:
		sum.Peak = c.Peak
	}
	return sum
}

// countsOf are the Counts of one request.
func countsOf(a *record.Attribution) Counts {
	switch a.Kind {
	case record.FewerTokens:
		return Counts{Fewer: 1}
	case record.MoreTokens:
		return Counts{Bundled: 1, Chunks: int64(a.Chunks), Tokens: int64(a.Tokens)}
	}
	return Counts{
		Known: 1, Chunks: int64(a.Full), Blank: int64(a.Chunks - a.Full), Tokens: int64(a.Tokens), Largest: a.Largest(),
	}
}
