package metrics

import (
	"slices"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

// A Delivery says how the answers of completed requests came: whether as a stream, and what came
// before the first output.
type Delivery struct {
	// Of are requests with enough tokens to recognise a stream, and AtOnce those whose output came
	// all at once, long after they were sent.
	Of     int
	AtOnce int

	// Content are requests that got output, and Early those whose TTFT ended before the first
	// output. Ahead is the sum of the differences.
	Content int
	Early   int
	Ahead   time.Duration

	// Surplus are requests with half as many chunks again as the server counted tokens. They have Chunks
	// and Tokens together.
	Surplus int
	Chunks  int
	Tokens  int
	// Falling are requests whose usage fell from one chunk to a later one.
	Falling int
}

// MeanAhead is by how much TTFT ended before the first output, on average over the requests that
// got output.
func (d Delivery) MeanAhead() time.Duration { return share(d.Ahead, d.Content) }

func (d Delivery) plus(other Delivery) Delivery {
	return Delivery{
		Of: d.Of + other.Of, AtOnce: d.AtOnce + other.AtOnce,
		Content: d.Content + other.Content, Early: d.Early + other.Early, Ahead: d.Ahead + other.Ahead,
		Surplus: d.Surplus + other.Surplus, Chunks: d.Chunks + other.Chunks, Tokens: d.Tokens + other.Tokens,
		Falling: d.Falling + other.Falling,
	}
}

// No server makes a token in a tenth of a millisecond, and few take less than a millisecond. Fewer
// than five tokens may share a packet.
const (
	streamTokens   = 5
	fastestToken   = 100 * time.Microsecond
	deliveredToken = time.Millisecond
)

// add counts a completed request that has chunks.
func (d *Delivery) add(r *record.Record) {
	if r.Times.FirstContent > 0 {
		d.Content++
		if ahead := r.Times.FirstContent - r.Times.Sent - r.TTFT(); ahead > 0 {
			d.Early++
			d.Ahead += ahead
		}
	}
	chunks, counts := r.Answer.Chunks.Len(), &r.Tokens
	if !counts.Uncounted && counts.Out > 1 && 2*(chunks-blankChunks) >= 3*counts.Out {
		d.Surplus++
		d.Chunks += chunks
		d.Tokens += r.Tokens.Out
	}
	if len(r.Tokens.PerChunk) > 0 && slices.Min(r.Tokens.PerChunk) < 0 {
		d.Falling++
	}
	// If nobody counted the tokens, chunks count as tokens.
	tokens := max(r.Tokens.Out, r.Answer.Chunks.Len())
	if tokens < streamTokens {
		return
	}
	d.Of++
	took := r.Answer.Chunks.Last() - max(r.Answer.Chunks.First(), r.Times.FirstContent)
	// Tokens that the client does not get, such as hidden reasoning, have no chunks.
	steps := time.Duration(max(r.Answer.Chunks.Len()-1, 1))
	if took < steps*fastestToken && r.E2EL() >= time.Duration(tokens-1)*deliveredToken {
		d.AtOnce++
	}
}
