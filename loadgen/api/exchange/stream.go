package exchange

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/servebench/servebench/loadgen/api/refusal"
	"github.com/servebench/servebench/loadgen/api/sse"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/record"
)

const (
	// lingerTimeout is how long to wait for the end of a reply whose content is complete, so that
	// its connection can be used again.
	lingerTimeout = time.Second
	// maxChunks and maxText (in bytes) bound an answer: no model's context holds as much, and
	// stamps and text stay in memory until the end.
	maxChunks = 1 << 20
	maxText   = 16 << 20
	// maxFinish is how much of a finish reason is kept, in bytes.
	maxFinish = 100
	// maxKept is the largest buffer kept for the next answer, in bytes.
	maxKept = 1 << 20
)

var (
	errStopped = errors.New("the consumer has seen enough")
	doneMark   = []byte("[DONE]")
)

// A stream reads one streamed answer. The next answer reuses its buffers.
type stream struct {
	epoch time.Time
	rec   *record.Record
	api   *Protocol
	tally *wire.Tally

	body   wire.Body
	events sse.Reader
	piece  Piece
	reads  Decoder
	text   []byte // all output so far, unless nobody wants it
	length int    // of all output, in bytes
	unread bool   // nobody wants the text
	answer *Kept  // of the message that the next turn needs; nil if nobody wants it

	chunks  int
	outputs int    // chunks that vLLM's client counts as output
	content int    // network read of the newest chunk with content; 0 before the first
	said    said   // what the server counts
	done    bool   // [DONE] came
	lingers bool   // read the rest, for the next request's sake
	reply   string // the id of the answer, by its end
}

// begin makes s read body, an answer of o. Call it before anything else. Inlined, it would add two
// streams to the stack of its caller, which lives as long as the answer.
//
//go:noinline
func (s *stream) begin(body *wire.Body, o *Endpoint) {
	*s = stream{api: o.Protocol, body: *body, events: s.events, piece: s.piece, reads: s.reads, text: s.text[:0],
		said: said{perChoice: s.said.perChoice[:0]}}
	if s.reads == nil {
		s.reads = s.api.Decoder()
	}
	s.events.Reset(&s.body, &o.buffers, s.api.Lines)
}

// end completes the record, with the text if it is wanted or needed to count tokens. It keeps
// buffers for the next answer unless they are large.
func (s *stream) end(keepText bool) {
	s.rec.Answer.MaxAge = max(s.rec.Answer.MaxAge, s.body.Doubt)
	s.said.into(&s.rec.Tokens, s.api.OnlyOuts)
	s.tally.Disorder(s.body.Disorder())
	if keepText || s.rec.Tokens.Out == 0 || s.rec.Tokens.Until032 != nil {
		s.rec.Answer.Text = string(s.text)
	}
	if s.answer != nil {
		s.answer.into(s.rec, s.api)
		s.rec.Answer.Reply = s.reply
	}
	if s.api.Unknown {
		s.rec.Result.Differs = ""
	}
	s.events.Release()
	if s.events.Kept()+cap(s.text)+cap(s.piece.scratch) > maxKept {
		*s = stream{}
	}
	s.rec, s.tally, s.answer, s.body = nil, nil, nil, wire.Body{}
}

// chunksTo passes the answer's chunks to yield until the answer ends. The error is a
// *record.Failure, or errStopped if yield stopped.
func (s *stream) chunksTo(ctx context.Context, yield func(engine.Chunk, error) bool) (failure error) {
	s.body.Await(func() (ended bool) {
		for !ended {
			e, err := s.events.Next()
			if err == wire.ErrAgain {
				return false
			}
			ended, failure = s.take(ctx, e, err, yield)
		}
		return true
	})
	if s.lingers {
		s.linger()
	}
	return failure
}

// take passes an event to yield, or the error that the event reader returned instead. It reports
// whether the answer has ended, and how it failed. As for vLLM's client, chunks after [DONE] count
// like earlier ones, but nothing after it is a failure.
func (s *stream) take(ctx context.Context, e sse.Event, err error, yield func(engine.Chunk, error) bool) (ended bool,
	failure error) {
	switch {
	case err == io.EOF:
		return true, s.verdict()
	case err != nil && s.done:
		if record.Ended(ctx) == nil {
			s.rec.Result.Differs = record.DiffersCut
		}
		return true, s.verdict()
	case err != nil:
		return true, wire.CutOff(ctx, err)
	case bytes.Equal(bytes.TrimSpace(e.Data), doneMark):
		if s.api.Marked {
			s.ended()
		}
		return false, nil
	case string(e.Name) == "error" && !s.done:
		return true, s.failed(e.Data)
	case len(e.Data) == 0:
		return false, nil
	}
	if s.api.Lines.Joins && !e.Whole && len(e.Name) > 0 {
		s.events.Odd = record.DiffersEvent // that client loses it
	}
	s.piece.Reset()
	if s.reads.Decode(e.Data, &s.piece) != nil || s.piece.Failed {
		return !s.done, s.unreadable(ctx, e)
	}
	if s.api.Refuse != nil && s.piece.Chunk {
		if failure = s.api.Refuse(e.Data); failure != nil {
			return !s.done, failure
		}
	}
	failure = s.chunk(e, yield)
	return failure != nil, failure
}

// ended notes that the answer is complete.
func (s *stream) ended() {
	s.done = true
	s.body.Ending()
}

// unreadable is the failure of an event that is no chunk; nil after [DONE].
func (s *stream) unreadable(ctx context.Context, e sse.Event) error {
	switch {
	case s.done:
		return nil
	case s.piece.Failed:
		return s.failed(e.Data)
	case e.Whole:
		return record.Failf(record.Malformed, "an event is not JSON: %q", record.Shorten(string(e.Data)))
	}
	_, err := s.events.Next() // what cut it
	return wire.CutOff(ctx, err)
}

// chunk adds an event to the record and passes it to yield, if it has choices.
func (s *stream) chunk(e sse.Event, yield func(engine.Chunk, error) bool) error {
	s.count(e)
	p := &s.piece
	if p.Last {
		s.ended()
		s.reply = p.Reply
	}
	if !p.Chunk {
		s.finished()
	}
	if !p.Chunk && p.Calls == nil {
		return nil
	}
	if err := s.excess(); err != nil {
		return err
	}
	if s.answer != nil {
		s.answer.add(p)
	}
	if !p.Chunk {
		return nil
	}
	if !yield(s.chunkOf(e), nil) {
		return errStopped
	}
	return nil
}

// excess is the failure of an answer that this chunk makes longer than any real one; nil otherwise.
func (s *stream) excess() error {
	switch {
	case s.chunks == maxChunks:
		return record.Failf(record.Malformed, "the answer goes on after %d chunks", maxChunks)
	case s.length+len(s.piece.Text)+s.answer.with(&s.piece) > maxText:
		return record.Failf(record.Malformed, "the answer goes on after %d MiB of text", maxText>>20)
	}
	return nil
}

// count records what the event has apart from its choices.
func (s *stream) count(e sse.Event) {
	p := &s.piece
	if p.Server != nil {
		s.rec.Server = p.Server
	}
	if p.Trailer {
		s.rec.Times.Trailer = e.At.Sub(s.epoch)
		s.doubt(e)
	}
	s.said.add(p, &s.rec.Tokens)
}

// chunkOf is the Chunk of an event with choices.
func (s *stream) chunkOf(e sse.Event) engine.Chunk {
	p := &s.piece
	if s.length += len(p.Text); !s.unread {
		s.text = append(s.text, p.Text...)
	}
	shared := false
	if p.Content {
		shared, s.content = e.Read == s.content, e.Read
	}
	if shared {
		s.rec.Answer.SharedReads++
	}
	s.tally.Chunk(e.Arrival, shared)
	s.doubt(e)
	s.chunks++
	if p.Output {
		s.outputs++
		s.rec.Times.Last = e.At.Sub(s.epoch)
	}
	s.finished()
	c := engine.Chunk{At: e.At, Late: s.late(e), Text: p.Text, Blank: !p.Output, Content: p.Content,
		Reasoning: p.Content && !p.Answers, Tokens: p.Usage.Out}
	if s.said.uncounted = s.said.uncounted || p.Index != 0 || c.Content && c.Tokens == 0; s.said.uncounted {
		c.Tokens = 0
	}
	return c
}

// finished records the finish reason, if the event has one.
func (s *stream) finished() {
	if p := &s.piece; len(p.Finish) > 0 && string(p.Finish) != s.rec.Answer.Finish && !unfinished(s.rec.Answer.Finish) {
		s.rec.Answer.Finish = record.Clip(string(p.Finish), maxFinish)
	}
}

// doubt records how far to trust the stamp of an event.
func (s *stream) doubt(e sse.Event) {
	doubt := e.Age
	if e.More || e.Mixed {
		doubt = e.Reach
	}
	s.rec.Answer.MaxAge = max(s.rec.Answer.MaxAge, doubt)
}

// late bounds how much earlier than its stamp the event may have arrived; 0 if the stamp is its own.
func (s *stream) late(e sse.Event) time.Duration {
	if !e.More && !e.Mixed {
		return 0
	}
	return s.tally.Late(e.Arrival)
}

// failed is the failure for an error that the server sent in the stream.
func (s *stream) failed(data []byte) *record.Failure {
	if s.api.Failure != nil {
		data = s.api.Failure(data)
	}
	said, message := refusal.Said(data), record.Shorten(string(data))
	if said != nil {
		message = said.Message
	}
	s.broken(record.DiffersError)
	s.lingers = true
	return refusal.Failed(record.InStream, message, said)
}

// verdict is the failure of an answer that reached its end, or nil. As for vLLM's client, the
// answer needs output, but any output will do. Unlike that client, we also require [DONE] or a
// finish reason.
func (s *stream) verdict() error {
	switch {
	case s.outputs == 0 && s.content == 0:
		return record.Failf(record.Empty, "%s", s.api.Empty)
	case unfinished(s.rec.Answer.Finish):
		s.broken(record.DiffersUnfinished)
		return record.Failf(record.Unfinished, "the server did not finish the answer: its finish reason is %s",
			s.rec.Answer.Finish)
	case !s.done && s.rec.Answer.Finish == "":
		s.broken(record.DiffersUnended)
		return record.Failf(record.Truncated, "%s", s.api.Cut)
	case s.outputs == 0:
		s.rec.Result.Differs = record.DiffersOutput
	case s.events.Odd != "":
		s.rec.Result.Differs = s.events.Odd
	}
	return nil
}

// broken notes why vLLM's client takes a failed answer for complete: it does so once there is
// output that it knows, unless it fails the answer for another reason.
func (s *stream) broken(why string) {
	if s.outputs > 0 && s.events.Odd == "" && !s.api.Agrees {
		s.rec.Result.Differs = why
	}
}

// unfinished reports whether vLLM gives this finish reason to an answer that it dropped. With several
// choices, one is enough.
func unfinished(finish string) bool { return finish == "error" || finish == "abort" }

// linger reads the rest of a reply for a short time, so that its connection can be used again. It
// ignores errors.
func (s *stream) linger() {
	s.body.Ending()
	for {
		if _, err := s.events.Next(); err != nil {
			return
		}
	}
}
