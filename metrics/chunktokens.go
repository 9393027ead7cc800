package metrics

import (
	"iter"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

// ChunkTokens says how the output tokens of completed requests came in chunks. The tokens of each
// chunk are known if the server counted them with every chunk, or if the request has as many tokens
// as chunks, apart from a role and a finish chunk.
type ChunkTokens struct {
	Known   int   `json:"known"`             // requests whose tokens are known chunk by chunk
	Bundled int   `json:"bundled,omitempty"` // others, with more tokens than chunks
	Fewer   int   `json:"fewer,omitempty"`   // others, with fewer: without usage, or with empty chunks
	Chunks  int64 `json:"chunks"`            // that carried tokens, in known and bundled requests
	Blank   int64 `json:"blank,omitempty"`   // that carried none, in known requests
	Tokens  int64 `json:"tokens"`            // in known and bundled requests
	Largest int   `json:"largest,omitempty"` // most tokens in one chunk, in known requests
}

// Mean is the mean number of tokens in a chunk, 0 if unknown.
func (c ChunkTokens) Mean() float64 {
	if c.Chunks == 0 {
		return 0
	}
	return float64(c.Tokens) / float64(c.Chunks)
}

// Differ reports that a chunk is not a token, so counting chunks does not count tokens. It ignores
// as many requests as Bundles does.
func (c ChunkTokens) Differ() bool { return c.Bundles() || c.Largest > 1 }

// Bundles reports that more than one request in a hundred had more tokens than chunks: too many to
// speak of single tokens.
func (c ChunkTokens) Bundles() bool { return c.Bundled*100 > c.Known+c.Bundled+c.Fewer }

// plus is the sum of c and other.
func (c ChunkTokens) plus(other ChunkTokens) ChunkTokens {
	return ChunkTokens{
		Known: c.Known + other.Known, Bundled: c.Bundled + other.Bundled, Fewer: c.Fewer + other.Fewer,
		Chunks: c.Chunks + other.Chunks, Blank: c.Blank + other.Blank,
		Tokens: c.Tokens + other.Tokens, Largest: max(c.Largest, other.Largest),
	}
}

// counts are the ChunkTokens of this request.
func (a *attribution) counts() ChunkTokens {
	switch a.kind {
	case fewer:
		return ChunkTokens{Fewer: 1}
	case bundled:
		return ChunkTokens{Bundled: 1, Chunks: int64(a.chunks), Tokens: int64(a.tokens)}
	}
	c := ChunkTokens{Known: 1, Chunks: int64(a.full), Tokens: int64(a.tokens), Largest: 1}
	if a.each != nil {
		c.Largest = slices.Max(a.each)
	}
	c.Blank = int64(a.chunks) - c.Chunks
	return c
}

// An attribution says how many tokens each chunk of a request carried. Unless its kind is known, it
// is a guess with the right sum.
type attribution struct {
	kind           int
	chunks, tokens int
	full           int   // chunks with tokens
	each           []int // tokens of each; nil for one in each, except blanks at both ends
	lead           int   // blank chunks before the first token
}

const (
	known   = iota
	bundled // more tokens than chunks
	fewer   // fewer tokens than chunks that could carry them
)

// attribute computes what r's chunks carried. r completed and has chunks.
func attribute(r *record.Record) attribution {
	a := attribution{chunks: r.Answer.Chunks.Len(), tokens: min(max(r.Tokens.Out, 0), record.MaxChunks)}
	if a.count(r.Tokens.PerChunk) {
		return a
	}
	blank := a.chunks - a.tokens
	if blank < 0 {
		a.kind = bundled
		return a
	}
	// A role chunk precedes the content, often in one packet with its beginning; a finish chunk may
	// follow.
	a.lead = min(blank, blanksBefore(r))
	a.full = a.tokens
	if blank-a.lead > 1 || a.tokens == 0 {
		a.kind = fewer
	}
	return a
}

// arrivals yields when each chunk came, and its tokens. If single chunk times are unknown, they are
// spread evenly.
func arrivals(r *record.Record, a *attribution) iter.Seq2[time.Duration, int] {
	return func(yield func(time.Duration, int) bool) {
		if !r.Answer.Chunks.Gapless() {
			i := 0
			for at := range r.Answer.Chunks.All() {
				if !yield(at, a.at(i)) {
					return
				}
				i++
			}
			return
		}
		first, whole := r.Answer.Chunks.First(), float64(r.Answer.Chunks.Last()-r.Answer.Chunks.First())
		for i := range a.chunks {
			if !yield(first+time.Duration(whole*float64(i)/float64(a.chunks-1)), a.at(i)) {
				return
			}
		}
	}
}

// count uses the server's counts, if they are complete.
func (a *attribution) count(each []int) bool {
	sum := 0
	a.full = 0
	for _, n := range each {
		if n < 0 || n > a.tokens {
			return false
		}
		sum += n
		if n > 0 {
			a.full++
		}
	}
	if len(each) != a.chunks || sum != a.tokens || sum == 0 {
		return false
	}
	a.each = each
	return true
}

// before is how many chunks came before the first with content.
func blanksBefore(r *record.Record) int {
	n, first := 0, r.Answer.Chunks.First()
	if r.Times.FirstContent > first {
		for at := range r.Answer.Chunks.All() {
			if at >= r.Times.FirstContent {
				break
			}
			n++
		}
		return n
	}
	for gap := range r.Answer.Chunks.Gaps() {
		if gap == 0 {
			n = 1
		}
		break
	}
	return n
}

// at is how many tokens chunk i carried.
func (a *attribution) at(i int) int {
	switch {
	case a.each != nil:
		return a.each[i]
	case a.kind != known:
		return (i+1)*a.tokens/a.chunks - i*a.tokens/a.chunks
	case i < a.lead || i >= a.lead+a.full:
		return 0
	}
	return 1
}
