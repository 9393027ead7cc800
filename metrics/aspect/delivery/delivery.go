// Package delivery is how the answers of a run came: whether they were streamed, and what came first.
package delivery

import (
	"slices"
	"time"

	"github.com/servebench/servebench/metrics"
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
func (d *Delivery) MeanAhead() time.Duration { return metrics.Share(d.Ahead, d.Content) }

// Kind is the aspect as the list has it.
var Kind = &metrics.Kind{
	Name: "delivery", New: func(*metrics.Header) metrics.Aspect { return new(Delivery) },
	Facts: func(s *metrics.Summary) []metrics.Fact { return metrics.Some("answers_all_at_once", Of(s).AtOnce) },
}

// Of is the aspect of a run.
func Of(s *metrics.Summary) *Delivery { return metrics.View[Delivery](s) }

// Merge adds another shard's requests.
func (d *Delivery) Merge(o metrics.Aspect) {
	other := o.(*Delivery)
	d.Of, d.AtOnce = d.Of+other.Of, d.AtOnce+other.AtOnce
	d.Content, d.Early, d.Ahead = d.Content+other.Content, d.Early+other.Early, d.Ahead+other.Ahead
	d.Surplus, d.Chunks, d.Tokens = d.Surplus+other.Surplus, d.Chunks+other.Chunks, d.Tokens+other.Tokens
	d.Falling += other.Falling
}

// No server makes a token in a tenth of a millisecond, and few take less than a millisecond. Fewer
// than five tokens may share a packet.
const (
	streamTokens   = 5
	fastestToken   = 100 * time.Microsecond
	deliveredToken = time.Millisecond
)

// Add counts a completed request that was streamed.
func (d *Delivery) Add(r *record.Record) {
	if !r.Answered() || r.Answer.Unstreamed {
		return
	}
	if r.Times.FirstContent > 0 {
		d.Content++
		if ahead := r.Times.FirstContent - r.Times.Sent - r.TTFT(); ahead > 0 {
			d.Early++
			d.Ahead += ahead
		}
	}
	chunks, counts := r.Answer.Chunks.Len(), &r.Tokens
	if !counts.Uncounted && counts.Out > 1 && 2*(chunks-record.BlankChunks) >= 3*counts.Out {
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
