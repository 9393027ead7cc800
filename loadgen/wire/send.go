package wire

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/servebench/servebench/metrics/record"
)

// send sends r over a line, and releases the slot when done. If a used line dies without a byte of
// the answer, it sends r once more, over a new line.
func (t *Transport) send(r *http.Request, leave func()) (*http.Response, func(), error) {
	p, err := originOf(r.URL)
	if err != nil {
		closeBody(r)
		return nil, leave, err
	}
	l := t.pool.take(p)
	if l == nil {
		if l, err = t.dialLine(r.Context(), p); err != nil {
			closeBody(r)
			return nil, leave, err
		}
	}
	reply, err := l.ask(r)
	if err != nil && l.used && l.unanswered(r.Context()) {
		t.pool.died(l)
		l, reply, err = t.resend(r, p, err)
	}
	if err != nil {
		return nil, leave, bare(err)
	}
	return reply, func() {
		t.putAway(l)
		leave()
	}, nil
}

// resend sends r over a new line, if it can, after another line died of cause.
func (t *Transport) resend(r *http.Request, p origin, cause error) (*link, *http.Response, error) {
	if !replayable(r) {
		return nil, nil, cause
	}
	again, err := rewound(r)
	if err != nil {
		return nil, nil, cause
	}
	l, err := t.dialLine(r.Context(), p)
	if err != nil {
		closeBody(again)
		return nil, nil, fmt.Errorf("%w, and no new one could be opened: %w", bare(cause), err)
	}
	reply, err := l.ask(again)
	return l, reply, err
}

// putAway keeps l for the next request, unless its server closes such lines.
func (t *Transport) putAway(l *link) {
	l.answers++
	if l.Available() > 0 && t.pool.unfit(l) {
		t.connections.Tally.drop()
		l.Close()
		return
	}
	t.pool.put(l)
}

// dialLine opens a line to p for a request.
func (t *Transport) dialLine(ctx context.Context, p origin) (l *link, err error) {
	// Dialling grows the stack of its goroutine by 8 KiB; do it on another goroutine, since this
	// one lives as long as the stream.
	var opening sync.WaitGroup
	opening.Go(func() { l, err = t.open(ctx, p) })
	opening.Wait()
	if err == nil {
		t.connections.Tally.open()
	}
	return l, err
}

// replayable reports whether r can be sent again.
func replayable(r *http.Request) bool {
	return r.Body == nil || r.Body == http.NoBody || r.GetBody != nil
}

// rewound is a replayable r with its body from the beginning.
func rewound(r *http.Request) (again *http.Request, err error) {
	again = r.WithContext(r.Context())
	if r.GetBody != nil {
		again.Body, err = r.GetBody()
	}
	return again, err
}

// closeBody closes the body of a request that is not sent, as a RoundTripper must.
func closeBody(r *http.Request) {
	if r.Body != nil {
		r.Body.Close()
	}
}

// tokenMarks are the characters, apart from letters and digits, that a token may have (RFC 9110,
// section 5.6.2).
const tokenMarks = "!#$%&'*+-.^_`|~"

// checkHeader reports what HTTP does not allow in h (RFC 9110, section 5), as a *record.Failure.
// net/http would open a connection first. The message has no value, since that may be a key.
func checkHeader(h http.Header) error {
	for name, values := range h {
		if name == "" || strings.ContainsFunc(name, noToken) {
			return record.Failf(record.Malformed, "%q cannot be the name of a header", name)
		}
		for _, value := range values {
			if strings.ContainsFunc(value, isControl) {
				return record.Failf(record.Malformed, "the header %s has a control character in its value", name)
			}
		}
	}
	return nil
}

func noToken(c rune) bool {
	letter := 'a' <= c|0x20 && c|0x20 <= 'z'
	return !letter && (c < '0' || c > '9') && !strings.ContainsRune(tokenMarks, c)
}

func isControl(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }
