package loadgen

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/servebench/servebench/metrics"
)

const (
	// neverValid is what vLLM's client says of a reply without a chunk.
	neverValid = "Never received a valid chunk to calculate TTFT.This response will be marked as failed!"
	// lingerTimeout is how long a connection is kept reading for the end of
	// a reply whose content is complete, so that it can be used again.
	lingerTimeout = time.Second
	// maxChoices bounds the choices of a request whose tokens are counted
	// one by one.
	maxChoices = 1024
	// maxChunks and maxText bound an answer, the latter in bytes: no model's
	// context holds as much, and stamps and text stay in memory until the end.
	maxChunks = 1 << 20
	maxText   = 16 << 20
	// maxFinish is how much is kept of a finish reason, in bytes.
	maxFinish = 100
	// maxKept is the largest buffer kept for the next answer, in bytes.
	maxKept = 1 << 20
)

var (
	errStopped = errors.New("the consumer has seen enough")
	doneMark   = []byte("[DONE]")
)

// A stream is one streamed answer being read. Its buffers serve the next one, too.
type stream struct {
	epoch time.Time
	rec   *metrics.Record
	chat  bool
	tally *Tally

	body   stampedBody
	events eventReader
	piece  piece
	text   []byte // all output so far

	chunks    int
	content   int   // network read that brought the newest chunk with content; 0 before
	perChoice []int // output tokens of each choice, where usage came with choices
	uncounted bool  // a chunk with output came without usage
	done      bool  // [DONE] came
}

// begin makes s read body. It must be called before anything else.
func (s *stream) begin(body stampedBody) {
	*s = stream{body: body, events: s.events, piece: s.piece, text: s.text[:0], perChoice: s.perChoice[:0]}
	s.events.reset(&s.body)
}

// end completes the record, with the text if it is wanted or needed to count
// tokens, and lets go of what is not used again.
func (s *stream) end(keepText bool) {
	s.rec.MaxAge = max(s.rec.MaxAge, s.body.doubt)
	if s.body.conn != nil {
		s.tally.disorder(s.body.conn.disorder())
	}
	if keepText || s.rec.Out == 0 {
		s.rec.Text = string(s.text)
	}
	if cap(s.events.buf)+cap(s.events.data)+cap(s.text)+cap(s.piece.scratch) > maxKept {
		*s = stream{}
	}
	s.rec, s.tally, s.body = nil, nil, stampedBody{}
}

// chunksTo hands the answer's chunks to yield until it ends. The error is a
// *Failure, or errStopped when yield wants no more.
func (s *stream) chunksTo(ctx context.Context, yield func(Chunk) bool) error {
	for {
		e, err := s.events.next()
		if err == io.EOF {
			return s.verdict()
		} else if err != nil {
			return cutOff(ctx, err)
		}
		switch {
		case bytes.Equal(bytes.TrimSpace(e.data), doneMark):
			s.done = true
			s.linger()
			return s.verdict()
		case string(e.name) == "error":
			return s.failed(e.data)
		case len(e.data) == 0:
			continue
		}
		if err := s.piece.read(e.data); err != nil {
			if e.whole {
				return failure(metrics.Malformed, "an event is not JSON: %q", shorten(string(e.data)))
			}
			_, err = s.events.next()
			return cutOff(ctx, err)
		}
		if s.piece.failed {
			return s.failed(e.data)
		}
		if s.count(e); !s.piece.choices {
			continue
		}
		if err := s.excess(); err != nil {
			return err
		}
		if !yield(s.chunk(e)) {
			return errStopped
		}
	}
}

// excess is the failure of an answer that the chunk at hand makes longer than any
// can be, nil for all others.
func (s *stream) excess() error {
	switch {
	case s.chunks == maxChunks:
		return failure(metrics.Malformed, "the answer goes on after %d chunks", maxChunks)
	case len(s.text)+len(s.piece.text) > maxText:
		return failure(metrics.Malformed, "the answer goes on after %d MiB of text", maxText>>20)
	}
	return nil
}

// count takes the event's usage into the record. Usage is read wherever it
// stands: alone in the last event (vLLM, ollama), with the finish reason
// (llama-server) or with every chunk; the last count that is not zero holds.
// Usage that comes with choices counts one choice, so that of several is added
// up. vLLM's client overlooks it.
func (s *stream) count(e event) {
	u := s.piece.usage
	if u.in > 0 {
		s.rec.In = u.in
	}
	if !s.piece.choices {
		if u.out > 0 {
			s.rec.Out = u.out
		}
		if s.chat && s.chunks > 0 && u != (usage{}) {
			s.stamped(e)
		}
		return
	}
	if i := s.piece.index; u.out > 0 && 0 <= i && i < maxChoices {
		for len(s.perChoice) <= i {
			s.perChoice = append(s.perChoice, 0)
		}
		s.perChoice[i] = u.out
		s.rec.Out = 0
		for _, n := range s.perChoice {
			s.rec.Out += n
		}
	}
}

// chunk makes the Chunk of an event that has choices.
func (s *stream) chunk(e event) Chunk {
	p := &s.piece
	s.text = append(s.text, p.text...)
	shared := false
	if len(p.text) > 0 {
		shared, s.content = e.read == s.content, e.read
	}
	if shared {
		s.rec.SharedReads++
	}
	s.tally.chunk(e.arrival, shared)
	s.stamped(e)
	s.chunks++
	if len(p.finish) > 0 && string(p.finish) != s.rec.Finish && !gaveUp(s.rec.Finish) {
		s.rec.Finish = clip(string(p.finish), maxFinish)
	}
	c := Chunk{At: e.at, Text: p.text, Content: len(p.text) > 0, Tokens: p.usage.out}
	if s.uncounted = s.uncounted || p.index != 0 || c.Content && c.Tokens == 0; s.uncounted {
		c.Tokens = 0
	}
	return c
}

// stamped takes the stamp of an event that counts into the record.
func (s *stream) stamped(e event) {
	s.rec.Last = e.at.Sub(s.epoch)
	doubt := e.age
	if e.more || e.mixed {
		doubt = e.reach
	}
	s.rec.MaxAge = max(s.rec.MaxAge, doubt)
}

// failed is the verdict on an error that the server sent in the stream.
func (s *stream) failed(data []byte) *Failure {
	message := errorMessage(data)
	if message == "" {
		message = shorten(string(data))
	}
	s.linger()
	return failure(metrics.InStream, "%s", message)
}

// verdict is the failure of an answer that came to a clean end. As for vLLM's
// client it needs a chunk; unlike that, also [DONE] or a finish reason.
func (s *stream) verdict() error {
	switch {
	case s.chunks == 0:
		return failure(metrics.Empty, neverValid)
	case gaveUp(s.rec.Finish):
		return failure(metrics.Unfinished, "the server did not finish the answer: its finish reason is %s", s.rec.Finish)
	case !s.done && s.rec.Finish == "":
		return failure(metrics.Truncated, "the stream ended without a finish reason and without [DONE]")
	}
	return nil
}

// gaveUp reports whether a finish reason is one that vLLM gives an answer which it
// dropped: of several choices, one is enough.
func gaveUp(finish string) bool { return finish == "error" || finish == "abort" }

// linger reads the rest of a reply, so that its connection can be used again,
// but not for long. How that ends does not matter.
func (s *stream) linger() {
	s.body.watch.after(lingerTimeout, func() *Failure { return failure(metrics.Stall, "no end after the last event") })
	for {
		if _, err := s.events.next(); err != nil {
			return
		}
	}
}
