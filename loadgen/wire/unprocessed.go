package wire

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

// How often a request is sent again that an HTTP/2 server did not process. A server that takes other
// requests meanwhile has room for few streams at a time; one that takes none refuses all.
const (
	mostRefusals     = 50 // of one request
	mostVainRefusals = 10 // in a row, without a reply to any request between them
)

// The pause after a refusal, from the second on.
const (
	firstRefusalPause   = 5 * time.Millisecond // doubles each time
	longestRefusalPause = 250 * time.Millisecond
)

// multiplex sends r over HTTP/2. It sends r again if the server says that it did not process it, which
// RFC 9113, section 8.7, makes safe. Many servers close a connection after some requests, and a server may
// lower the number of streams that it allows.
func (t *Transport) multiplex(r *http.Request) (*http.Response, error) {
	t.connections.Tally.speaks(false)
	once, vain, replies := r.WithContext(r.Context()), 0, t.replies.Load()
	for sent := 1; ; sent++ {
		once.GetBody = nil // net/http would use it to send the request again
		reply, err := t.http.RoundTrip(once)
		if err == nil {
			t.replies.Add(1)
			return reply, nil
		}
		why, err := refusedStream(err)
		if err != nil {
			return nil, err
		}
		if now := t.replies.Load(); now > replies {
			vain, replies = 0, now
		}
		if vain++; sent >= mostRefusals || vain >= mostVainRefusals || !replayable(r) {
			return nil, record.Failf(record.Reset, "the server refused the request in %d attempts over HTTP/2, without "+
				"processing it: %s", sent, why)
		}
		t.connections.Tally.unprocess()
		if err := refusalPause(r.Context(), sent); err != nil {
			return nil, err
		}
		if once, err = rewound(r); err != nil {
			return nil, err
		}
	}
}

// refusalPause waits after so many refusals of a request. Requests that were refused together come back
// one by one.
func refusalPause(ctx context.Context, refusals int) error {
	if refusals < 2 {
		return nil
	}
	pause := min(firstRefusalPause<<min(refusals-2, 10), longestRefusalPause)
	timer := time.NewTimer(pause/2 + rand.N(pause))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// refusedStream is why the server did not process a request, by net/http's error about it; the error, if
// the server may have processed it. A GOAWAY names the last stream that the server looks at. net/http
// would also send again after PROTOCOL_ERROR, which promises nothing.
func refusedStream(err error) (why string, unsure error) {
	text := err.Error()
	code, goAway := strings.CutPrefix(text, "http2: Transport received GOAWAY from server ErrCode:")
	switch {
	case goAway:
		return "GOAWAY with " + code, nil
	case text == "net/http: cannot rewind body after connection loss": // for a POST: it opened no stream
		return "the connection closed before the request was written", nil
	}
	text, found := strings.CutPrefix(text, "http2: Transport: cannot retry err [")
	if !found {
		return "", err
	}
	why, _, _ = strings.Cut(text, "] after Request.Body was written")
	switch {
	case strings.Contains(why, "PROTOCOL_ERROR"):
		return "", record.Failf(record.Reset, "the connection was reset before the reply: %s", why)
	case strings.Contains(why, "REFUSED_STREAM"):
		return "REFUSED_STREAM", nil // without the number of the stream, so that all failures have one text
	case strings.HasSuffix(why, "GOAWAY"):
		return "GOAWAY", nil
	}
	return why, nil
}
