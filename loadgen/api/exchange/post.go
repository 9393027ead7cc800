package exchange

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/api/refusal"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/record"
)

// maxWhole bounds an answer that is read whole, in bytes. The embeddings of 500 long texts have some
// tens of megabytes.
const maxWhole = 256 << 20

// replied is an answer with status 200 whose body is still to come.
type replied struct {
	*http.Response
	conn  net.Conn
	watch *wire.Watch
}

// Stamped is the body with the arrivals of its bytes. Call it once.
func (r replied) Stamped() wire.Body { return wire.BodyOf(r.Response, r.conn, r.watch) }

// requested sends req as Send does and passes its answer to read, whose error it returns. ctx in read ends
// when a limit is passed. When requested returns, rec has what concerns the connection, and the Status.
// Any status except 200 is a *record.Failure, with the server's message.
func (o *Endpoint) requested(ctx context.Context, epoch time.Time, req *engine.Request, rec *record.Record,
	read func(ctx context.Context, reply replied) error) error {
	limits := o.Timeouts
	limits.Linger = lingerTimeout
	ctx, watch := limits.Watch(ctx)
	defer watch.Stop()
	t := &wire.Trace{Epoch: epoch, Watch: watch, Size: len(req.Body)}
	body := bytes.NewReader(req.Body)
	if req.Once && t.Size > smallBody {
		t.Sent = func() {
			req.Body = nil
			body.Reset(nil)
		}
	}
	answer, err := o.post(httptrace.WithClientTrace(ctx, t.Hooks()), req, body)
	if err != nil {
		t.Into(rec)
		return t.Failure(ctx, err)
	}
	watch.Headed()
	defer answer.Body.Close()
	defer t.Into(rec)
	rec.Result.Status = answer.StatusCode
	o.Tally.Replied(answer)
	o.cookies.keep(o.target, answer, o.Tally)
	wire.Unpack(answer)
	reply := replied{answer, t.Carrier(), watch}
	if answer.StatusCode != http.StatusOK {
		body := reply.Stamped()
		return o.located(refusal.Of(answer, &body))
	}
	if err := wire.Unreadable(answer); err != nil {
		return err
	}
	return read(ctx, reply)
}

// Whole sends req as Send does and passes its answer to read once the answer has arrived whole. The
// body is valid until read returns. rec.Answer is then Unstreamed, and Times.Last is when the last byte arrived.
func (o *Endpoint) Whole(ctx context.Context, epoch time.Time, req *engine.Request, rec *record.Record,
	read func(header http.Header, body []byte) error) error {
	return o.requested(ctx, epoch, req, rec, func(ctx context.Context, reply replied) error {
		whole, _ := o.wholes.Get().(*bytes.Buffer)
		if whole == nil {
			whole = new(bytes.Buffer)
		}
		defer o.wholes.Put(whole)
		whole.Reset()
		if err := o.gather(ctx, reply, whole, epoch, rec); err != nil {
			return err
		}
		rec.Times.Last, rec.Answer.Unstreamed = rec.Times.LastByte, true
		return read(reply.Header, whole.Bytes())
	})
}

// gather reads the body of reply, and records when it came.
func (o *Endpoint) gather(ctx context.Context, reply replied, whole *bytes.Buffer, epoch time.Time,
	rec *record.Record) error {
	body := reply.Stamped()
	n, err := whole.ReadFrom(io.LimitReader(&body, maxWhole+1))
	rec.Answer.MaxAge = max(rec.Answer.MaxAge, body.Doubt, body.Arrival().Age)
	o.Tally.Disorder(body.Disorder())
	if at := body.Arrival().At; !at.IsZero() {
		rec.Times.LastByte = at.Sub(epoch)
	}
	switch {
	case err != nil:
		return wire.CutOff(ctx, err)
	case n > maxWhole:
		return record.Failf(record.Malformed, "the answer is longer than %d MiB", maxWhole>>20)
	}
	return nil
}

// prepare does what no request must do again.
func (o *Endpoint) prepare() {
	o.target, o.wrong = url.Parse(o.URL)
}

// post sends req, whose body is in body.
func (o *Endpoint) post(ctx context.Context, req *engine.Request, body *bytes.Reader) (*http.Response, error) {
	o.parse.Do(o.prepare)
	if o.wrong != nil {
		return nil, o.wrong
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "", io.NopCloser(body))
	if err != nil {
		return nil, err
	}
	if _, ours := o.Transport.(*wire.Transport); ours { // another transport would send it again
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(req.Body)), nil }
	}
	r.URL, r.Host, r.ContentLength = o.target, o.target.Host, int64(len(req.Body))
	if o.Header != nil {
		r.Header = o.Header.Clone()
	}
	if o.ContentType != nil {
		r.Header.Set("Content-Type", o.ContentType(req.Body))
	}
	if id := req.AttemptID(); id != "" {
		r.Header.Set("X-Request-Id", id)
	}
	if o.Traced && req.ID != "" {
		parent, state := traceContext(req.ID, req.AttemptID())
		r.Header.Set("Traceparent", parent)
		if state != "" {
			r.Header.Set("Tracestate", state)
		}
	}
	if req.Session != "" {
		r.Header.Set(cmp.Or(o.SessionHeader, sessionHeader), req.Session)
	}
	o.cookies.send(r)
	return RoundTrip(o.Transport, r)
}

// traceContext are the traceparent and the tracestate of an attempt at the request with that id, by W3C
// Trace Context (Recommendation of 23 November 2021), sections 3.2 and 3.3. The trace id is the first 16
// bytes of the SHA-256 of the id, and the parent id the next 8 of the SHA-256 of the attempt's id: so the
// attempts at a request are spans of one trace, and whoever has the id finds the trace. The trace is
// sampled. state is empty for an id that no tracestate may hold.
func traceContext(id, attempt string) (parent, state string) {
	trace, span := sha256.Sum256([]byte(id)), sha256.Sum256([]byte(attempt))
	parent = fmt.Sprintf("00-%x-%x-01", trace[:16], span[16:24])
	forbidden := func(r rune) bool { return r < ' ' || r > '~' || r == ',' || r == '=' }
	if len(attempt) > maxState || strings.ContainsFunc(attempt, forbidden) || strings.HasSuffix(attempt, " ") {
		return parent, ""
	}
	return parent, "servebench=" + attempt
}

// maxState is the most characters of a value in a tracestate.
const maxState = 256

// smallBody is the size of a body, in bytes, that is not worth dropping early.
const smallBody = 32 << 10

// RoundTrip sends r as it is. It follows no redirect and adds nothing.
func RoundTrip(transport http.RoundTripper, r *http.Request) (*http.Response, error) {
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host // net/http ignores it among the headers
	}
	if transport == nil {
		transport = http.DefaultTransport
	}
	return transport.RoundTrip(r)
}
