package engine

import (
	"bytes"
	"context"
	"time"
	"unicode"

	"github.com/servebench/servebench/metrics"
)

// An exchange collects the parts of an answer.
type exchange struct {
	rec    *metrics.Record
	live   *Live
	going  context.Context // the request may be sent again until this ends; nil: never
	tokens tokenCount
}

// exchange sends req, several times if the Retry allows it, and records the result in x.rec.
func (t *Target) exchange(ctx context.Context, epoch time.Time, req *Request, x exchange) {
	rec := x.rec
	rec.In, rec.Asked, rec.Adapter, rec.Payload = rec.InAsked, req.Asked, req.Adapter, req.Payload
	rec.Sent = time.Since(epoch)
	if x.going == nil || t.Retry.Times <= 0 {
		_ = t.attempt(ctx, epoch, req, &x) // the record has the error
	} else {
		t.retry(ctx, epoch, req, &x)
	}
	rec.End = time.Since(epoch)
	rec.TokensPerChunk = x.tokens.each(rec)
	t.count(req, rec)
}

// attempt sends req once. The record has the error as well.
func (t *Target) attempt(ctx context.Context, epoch time.Time, req *Request, x *exchange) error {
	rec := x.rec
	for chunk, err := range t.Send(ctx, epoch, req, rec) {
		if err != nil {
			rec.Class, rec.Error = metrics.Classify(err)
			return err
		}
		at := chunk.At.Sub(epoch)
		if chunk.Content && rec.FirstContent == 0 && !invisible(chunk.Text) {
			rec.FirstContent, rec.Reasoned = at, chunk.Reasoning
		}
		if chunk.Content && rec.Reasoned && !chunk.Reasoning && rec.FirstOutput == 0 {
			rec.FirstOutput = at
		}
		if chunk.Blank {
			rec.Blank.Append(at)
			continue
		}
		if rec.Chunks.Len() == 0 {
			x.live.first(at - rec.Sent)
		}
		if chunk.Late > 0 {
			rec.Late.Add(rec.Chunks.Len(), chunk.Late)
		}
		rec.Chunks.Append(at)
		x.live.Chunks.Add(1)
		x.tokens.add(chunk.Tokens, chunk.Content)
	}
	if rec.Unstreamed {
		rec.Chunks.Append(rec.Last)
		x.live.Chunks.Add(1)
	}
	rec.TakeBlank()
	return nil
}

// invisible reports that a text has no character that anybody sees: gateways send a space, or one without width,
// before the first token. A chunk without text has something else, such as a call.
func invisible(text []byte) bool {
	return len(text) > 0 && !bytes.ContainsFunc(
		text, func(r rune) bool { return !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r) })
}

// count fills in token counts that the server did not send.
func (t *Target) count(req *Request, rec *metrics.Record) {
	if rec.Class == metrics.OK && !t.Pooling {
		rec.Uncounted = rec.Out == 0 && (rec.WithOutput == nil || t.counts(rec))
		t.recount(rec, &rec.In, &rec.Out)
		if older := rec.Until032; older != nil {
			t.recount(rec, &older.In, &older.Out)
		}
	}
	if !req.KeepText && !req.KeepAnswer {
		rec.Text = ""
	}
}

// recount replaces the counts of an answer in which vLLM's client finds no counts: like that
// client, it uses the tokenizer. Without a tokenizer, counts from elsewhere in the answer are
// better than the 1 that vLLM's client takes, and better than asking the server during a load.
func (t *Target) recount(rec *metrics.Record, in, out *int) {
	switch {
	case *out > 0:
	case t.counts(rec):
		*out = t.Count(rec.Text)
	case rec.WithOutput != nil:
		*in, *out = rec.WithOutput.In, rec.WithOutput.Out
	default:
		*out = 1
	}
}

// counts reports whether to count an answer with the tokenizer because vLLM's client finds no count
// in it.
func (t *Target) counts(rec *metrics.Record) bool {
	return t.Count != nil && !(t.CountAsks && rec.WithOutput != nil)
}

// Once sends one request outside any load: a ready check or a warm-up. The Record's times count
// from the call.
func (t *Target) Once(ctx context.Context, req *Request) *metrics.Record {
	rec := &metrics.Record{ID: req.ID, Phase: metrics.WarmUp}
	t.exchange(ctx, time.Now(), req, exchange{rec: rec, live: new(Live)})
	return rec
}

// A tokenCount turns the server's running totals into tokens per chunk. It stores nothing while
// each chunk has one token.
type tokenCount struct {
	chunks, total int
	silent        int // chunks before the first total, such as a chat's role
	perChunk      []int

	lead, content, tail int // chunks before the first content, with content, and after the last
}

func (c *tokenCount) add(total int, content bool) {
	c.chunks++
	switch {
	case content:
		c.content++
		c.tail = 0
	case c.content == 0:
		c.lead++
	default:
		c.tail++
	}
	if total == 0 && c.total == 0 {
		c.silent++
		return
	}
	n := 0
	if total > 0 {
		n, c.total = total-c.total, total
	}
	if c.perChunk == nil && (n != 1 || c.silent > 0) {
		c.perChunk = make([]int, c.chunks-1, 2*c.chunks)
		for i := c.silent; i < len(c.perChunk); i++ {
			c.perChunk[i] = 1
		}
	}
	if c.perChunk != nil {
		c.perChunk = append(c.perChunk, n)
	}
}

// each is the number of tokens of each chunk of rec, if it must be stored. The usual pattern needs
// no list: one token a chunk, then one chunk that finishes, or two from gateways that send a choice
// with the usage.
func (c *tokenCount) each(rec *metrics.Record) []int {
	out := rec.Out
	if rec.WithOutput != nil {
		out = rec.WithOutput.Out
	}
	if c.perChunk != nil || c.tail < 2 || c.content != out || c.lead+c.content+c.tail != c.chunks {
		return c.perChunk
	}
	each := make([]int, c.chunks)
	for i := range c.content {
		each[c.lead+i] = 1
	}
	return each
}
