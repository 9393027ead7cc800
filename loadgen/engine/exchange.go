package engine

import (
	"bytes"
	"context"
	"time"
	"unicode"

	"github.com/servebench/servebench/metrics/record"
)

// An exchange collects the parts of an answer.
type exchange struct {
	rec    *record.Record
	live   *Live
	going  context.Context // the request may be sent again until this ends; nil: never
	tokens tokenCount
}

// exchange sends req, several times if the Retry allows it, and records the result in x.rec.
func (t *Target) exchange(ctx context.Context, epoch time.Time, req *Request, x exchange) {
	rec := x.rec
	rec.Tokens.In, rec.Asked, rec.Adapter, rec.Payload = rec.Tokens.InAsked, req.Asked, req.Adapter, req.Payload
	rec.Times.Sent = time.Since(epoch)
	if x.going == nil || t.Retry.Times <= 0 {
		_ = t.attempt(ctx, epoch, req, &x) // the record has the error
	} else {
		t.retry(ctx, epoch, req, &x)
	}
	rec.Times.End = time.Since(epoch)
	rec.Tokens.PerChunk = x.tokens.each(rec)
	t.count(req, rec)
}

// attempt sends req once. The record has the error as well.
func (t *Target) attempt(ctx context.Context, epoch time.Time, req *Request, x *exchange) error {
	rec := x.rec
	for chunk, err := range t.Send(ctx, epoch, req, rec) {
		if err != nil {
			rec.Result.Class, rec.Result.Error = record.Classify(err)
			return err
		}
		at := chunk.At.Sub(epoch)
		if chunk.Content && rec.Times.FirstContent == 0 && !invisible(chunk.Text) {
			rec.Times.FirstContent, rec.Answer.Reasoned = at, chunk.Reasoning
		}
		if chunk.Content && rec.Answer.Reasoned && !chunk.Reasoning && rec.Times.FirstOutput == 0 {
			rec.Times.FirstOutput = at
		}
		if chunk.Blank {
			rec.Answer.Blank.Append(at)
			continue
		}
		if rec.Answer.Chunks.Len() == 0 {
			x.live.first(at - rec.Times.Sent)
		}
		if chunk.Late > 0 {
			rec.Answer.Late.Add(rec.Answer.Chunks.Len(), chunk.Late)
		}
		rec.Answer.Chunks.Append(at)
		x.live.Chunks.Add(1)
		x.tokens.add(chunk.Tokens, chunk.Content)
	}
	if rec.Answer.Unstreamed {
		rec.Answer.Chunks.Append(rec.Times.Last)
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
func (t *Target) count(req *Request, rec *record.Record) {
	if rec.Result.Class == record.OK && !t.Pooling {
		rec.Tokens.Uncounted = rec.Tokens.Out == 0 && (rec.Tokens.WithOutput == nil || t.counts(rec))
		t.recount(rec, &rec.Tokens.In, &rec.Tokens.Out)
		if older := rec.Tokens.Until032; older != nil {
			t.recount(rec, &older.In, &older.Out)
		}
	}
	if !req.KeepText && !req.KeepAnswer {
		rec.Answer.Text = ""
	}
}

// recount replaces the counts of an answer in which vLLM's client finds no counts: like that
// client, it uses the tokenizer. Without a tokenizer, counts from elsewhere in the answer are
// better than the 1 that vLLM's client takes, and better than asking the server during a load.
func (t *Target) recount(rec *record.Record, in, out *int) {
	switch {
	case *out > 0:
	case t.counts(rec):
		*out = t.Count(rec.Answer.Text)
	case rec.Tokens.WithOutput != nil:
		*in, *out = rec.Tokens.WithOutput.In, rec.Tokens.WithOutput.Out
	default:
		*out = 1
	}
}

// counts reports whether to count an answer with the tokenizer because vLLM's client finds no count
// in it.
func (t *Target) counts(rec *record.Record) bool {
	return t.Count != nil && !(t.CountAsks && rec.Tokens.WithOutput != nil)
}

// Once sends one request outside any load: a ready check or a warm-up. The Record's times count
// from the call.
func (t *Target) Once(ctx context.Context, req *Request) *record.Record {
	rec := &record.Record{ID: req.ID, Phase: record.WarmUp}
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
func (c *tokenCount) each(rec *record.Record) []int {
	out := rec.Tokens.Out
	if rec.Tokens.WithOutput != nil {
		out = rec.Tokens.WithOutput.Out
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
