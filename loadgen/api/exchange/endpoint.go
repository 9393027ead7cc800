// Package exchange sends a request and reads its answer, for all APIs, and knows none of them.
//
// An Endpoint is an engine.Sender. What is special about an API is its Protocol, whose Decoder reads an event into a
// Piece. The rest is the same everywhere: connections, stamps, refusals, cookies, what a record has of an answer,
// how it failed, and where vLLM's client would see it differently.
package exchange

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/servebench/servebench/loadgen/api/refusal"
	"github.com/servebench/servebench/loadgen/api/sse"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// sessionHeader is what vLLM's server and its multi-turn clients name the header of a session.
const sessionHeader = "X-Session-ID"

const userAgent = "servebench/1 (+https://github.com/servebench/servebench)"

// Headers are the headers of every request: what vLLM's client sends, with Authorization if there
// is a key, then extra. A header replaces earlier ones of the same name.
func Headers(apiKey string, extra []metrics.KV) http.Header {
	h := http.Header{}
	h.Set("Accept", "*/*")
	h.Set("User-Agent", userAgent)
	h.Set("Content-Type", "application/json")
	if apiKey != "" {
		h.Set("Authorization", "Bearer "+apiKey)
	}
	for _, kv := range extra {
		h.Set(kv.Key, kv.Value)
	}
	return h
}

// An Endpoint reads answers from an endpoint of an API. After first use, its fields must not change and it must not
// be copied. Send is safe for concurrent use.
type Endpoint struct {
	URL       string            // the endpoint
	Header    http.Header       // sent with every request; see Headers
	Protocol  *Protocol         // what it speaks
	OneJSON   bool              // its answers are JSON, not streams: Send passes on no chunks
	Transport http.RoundTripper // see wire.Connections; nil means http.DefaultTransport
	Timeouts  wire.Timeouts
	Tally     *wire.Tally // counts for the run; nil counts nothing

	// ContentType is the media type of a body, in place of the one in Header; nil means that one.
	ContentType func(body []byte) string

	SessionHeader string // carries engine.Request.Session; empty means X-Session-ID
	Traced        bool   // send the id of a request as W3C trace context, too; see traceContext
	Reasoning     bool   // keep the reasoning of an answer, too, if the request keeps the answer

	cookies cookies
	parse   sync.Once
	target  *url.URL  // URL, parsed
	wrong   error     // with URL
	streams sync.Pool // *stream, for their buffers
	buffers sse.Buffers
	wholes  sync.Pool // *bytes.Buffer, for answers read whole
}

// Send is an engine.Sender. It sends a request once, with one exception: if a used connection dies
// before the first byte of the answer, a wire.Transport sends the request again, once, over a new
// connection. Send follows no redirects.
func (o *Endpoint) Send(ctx context.Context, epoch time.Time, req *engine.Request,
	rec *record.Record) iter.Seq2[engine.Chunk, error] {
	return func(yield func(engine.Chunk, error) bool) {
		err := o.exchange(ctx, epoch, req, rec, yield)
		if err != nil && err != errStopped {
			yield(engine.Chunk{}, err)
		}
	}
}

// exchange sends req and passes the chunks of its answer to yield. When it returns, rec is
// complete.
func (o *Endpoint) exchange(ctx context.Context, epoch time.Time, req *engine.Request, rec *record.Record,
	yield func(engine.Chunk, error) bool) error {
	if o.OneJSON {
		return o.readWhole(ctx, epoch, req, rec)
	}
	return o.requested(ctx, epoch, req, rec, func(ctx context.Context, reply replied) error {
		s := o.stream(reply)
		defer o.streams.Put(s)
		s.epoch, s.rec, s.tally, s.unread = epoch, rec, o.Tally, req.NoText && !req.KeepAnswer
		if req.KeepAnswer {
			s.answer = &Kept{reasoning: o.Reasoning}
		}
		defer s.end(req.KeepText || req.KeepAnswer)
		if err := refusal.Document(reply.Response, &s.body, s.api.Type); err != nil {
			return err
		}
		err := s.chunksTo(ctx, yield)
		if at := s.body.Arrival().At; !at.IsZero() {
			rec.Times.LastByte = at.Sub(epoch)
		}
		return err
	})
}

// stream is a stream that reads the body of reply.
func (o *Endpoint) stream(reply replied) *stream {
	s, _ := o.streams.Get().(*stream)
	if s == nil {
		s = new(stream)
	}
	body := reply.Stamped()
	s.begin(&body, o)
	return s
}

// located adds the URL to the failure of a request if the server says that the URL does not exist.
func (o *Endpoint) located(err error) error {
	f, ok := errors.AsType[*record.Failure](err)
	if ok && (f.Status == http.StatusNotFound || f.Status == http.StatusMethodNotAllowed) &&
		!strings.Contains(strings.ToLower(f.Error()), "model") {
		f.Err = fmt.Errorf("%w (POST %s://%s%s)", f.Err, o.target.Scheme, o.target.Host, o.target.EscapedPath())
	}
	return err
}
