package record

import (
	"iter"
	"slices"
	"time"
)

// An Attribution says how many tokens each chunk of a request carried. Unless its Kind is KnownTokens, it is a
// guess with the right sum.
type Attribution struct {
	Kind   Knowledge
	Chunks int
	Tokens int
	Full   int // chunks with tokens, if they are known

	each []int // tokens of each; nil for one in each, except blanks at both ends
	lead int   // blank chunks before the first token
}

// Knowledge is what is known of the tokens of chunks.
type Knowledge int

// The kinds of Knowledge.
const (
	KnownTokens Knowledge = iota // of each chunk
	MoreTokens                   // than chunks
	FewerTokens                  // than chunks that could carry them
)

// Attribute computes what r's chunks carried. r completed and has chunks.
func Attribute(r *Record) Attribution {
	a := Attribution{Chunks: r.Answer.Chunks.Len(), Tokens: min(max(r.Tokens.Out, 0), maxChunks)}
	if a.count(r.Tokens.PerChunk) {
		return a
	}
	blank := a.Chunks - a.Tokens
	if blank < 0 {
		a.Kind = MoreTokens
		return a
	}
	// A role chunk precedes the content, often in one packet with its beginning; a finish chunk may
	// follow.
	a.lead = min(blank, blanksBefore(r))
	a.Full = a.Tokens
	if blank-a.lead > 1 || a.Tokens == 0 {
		a.Kind = FewerTokens
	}
	return a
}

// Largest is the most tokens in one chunk, if they are known.
func (a *Attribution) Largest() int {
	if a.each == nil {
		return 1
	}
	return slices.Max(a.each)
}

// Arrivals yields when each chunk of r came, and its tokens. If single chunk times are unknown, they are
// spread evenly.
func (a *Attribution) Arrivals(r *Record) iter.Seq2[time.Duration, int] {
	return func(yield func(time.Duration, int) bool) {
		if !r.Answer.Chunks.Gapless() {
			i := 0
			for at := range r.Answer.Chunks.all() {
				if !yield(at, a.at(i)) {
					return
				}
				i++
			}
			return
		}
		first, whole := r.Answer.Chunks.First(), float64(r.Answer.Chunks.Last()-r.Answer.Chunks.First())
		for i := range a.Chunks {
			if !yield(first+time.Duration(whole*float64(i)/float64(a.Chunks-1)), a.at(i)) {
				return
			}
		}
	}
}

// count uses the server's counts, if they are complete.
func (a *Attribution) count(each []int) bool {
	sum := 0
	a.Full = 0
	for _, n := range each {
		if n < 0 || n > a.Tokens {
			return false
		}
		sum += n
		if n > 0 {
			a.Full++
		}
	}
	if len(each) != a.Chunks || sum != a.Tokens || sum == 0 {
		return false
	}
	a.each = each
	return true
}

// before is how many chunks came before the first with content.
func blanksBefore(r *Record) int {
	n, first := 0, r.Answer.Chunks.First()
	if r.Times.FirstContent > first {
		for at := range r.Answer.Chunks.all() {
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
func (a *Attribution) at(i int) int {
	switch {
	case a.each != nil:
		return a.each[i]
	case a.Kind != KnownTokens:
		return (i+1)*a.Tokens/a.Chunks - i*a.Tokens/a.Chunks
	case i < a.lead || i >= a.lead+a.Full:
		return 0
	}
	return 1
}
