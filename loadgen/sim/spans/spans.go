// Package spans says where the time of a simulated request goes.
//
// A Request has the instants that only the server can know, and a Log writes them down. They are the
// truth for whoever measures the same request from outside. Added makes spans longer, each by a
// known time, so that one can check whether a measurement finds it.
package spans

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Added is time that the server adds to the spans of each request. It changes nothing else: the
// steps of the engine take as long as without it. The zero value adds nothing.
type Added struct {
	Queue    time.Duration // before the engine schedules the request
	Prefill  time.Duration // before its first token
	FrontEnd time.Duration // before the engine gets the request
	Network  time.Duration // between the server and the client, so the server does not know it

	// Generation is spread evenly over the time from the first token to the last.
	Generation time.Duration
}

// Names are the names of the spans that Parse reads.
var Names = []string{"queue", "prefill", "front-end", "network", "generation"}

// Parse reads spans and times with commas between, as in "queue=5ms,network=200us". Spans that are not
// listed get no time.
func Parse(text string) (a Added, err error) {
	for item := range strings.SplitSeq(text, ",") {
		name, arg, _ := strings.Cut(strings.TrimSpace(item), "=")
		span := a.span(name)
		if span == nil {
			return Added{}, fmt.Errorf("%q is no span: it must be %s", name, strings.Join(Names, ", "))
		}
		if *span, err = time.ParseDuration(arg); err != nil || *span < 0 {
			return Added{}, fmt.Errorf("span %s: %q must be a time that is not negative, as in %s=5ms", name, arg, name)
		}
	}
	return a, nil
}

func (a *Added) span(name string) *time.Duration {
	return map[string]*time.Duration{
		"queue": &a.Queue, "prefill": &a.Prefill, "front-end": &a.FrontEnd, "network": &a.Network,
		"generation": &a.Generation,
	}[name]
}

// Token is how much later a token appears in the engine, for token i of n, counted from 0.
func (a *Added) Token(i, n int) time.Duration {
	return a.Queue + a.Prefill + a.Generation*time.Duration(i)/time.Duration(max(n-1, 1))
}

// A Request says when the server did what with one request. The instants follow one another, except
// that writing an answer begins before its last token.
type Request struct {
	ID         string    // x-request-id; empty when the request had none
	Received   time.Time // its last byte had reached this machine, or else had been read
	Queued     time.Time // the engine got it
	Scheduled  time.Time // the engine took it into the batch
	FirstToken time.Time
	Wrote      time.Time // the server began to write what has its first token
	LastToken  time.Time
	LastWrote  time.Time // the server began to write what has its last token
	Ended      time.Time // the server had written the answer

	Network time.Duration // Added.Network, which passed between the server and the client
	In, Out int           // tokens
	Finish  string        // finish reason
	Whole   bool          // the answer was not streamed
}

// generation is the time from writing the first token to writing the last, so that the spans add up to
// the time until then. In an answer that is not streamed it is the engine's.
func (r *Request) generation() time.Duration {
	if r.Whole {
		return r.LastToken.Sub(r.FirstToken)
	}
	return r.LastWrote.Sub(r.Wrote)
}

// frontEnd is the server's time outside of the engine until the first token left: before the engine got
// the request, and from the first token to the beginning of its write. In an answer that is not
// streamed, the first token waits for the last, which does not count.
func (r *Request) frontEnd() time.Duration {
	token := r.FirstToken
	if r.Whole {
		token = r.LastToken
	}
	return r.Queued.Sub(r.Received) + r.Wrote.Sub(token)
}

// A Log writes requests as JSON lines. It is safe for concurrent use.
type Log struct {
	mu  sync.Mutex
	to  io.Writer
	err error
}

// NewLog makes a Log that writes a line to w for each request, in one Write.
func NewLog(w io.Writer) *Log { return &Log{to: w} }

// Add writes a request. An error stays until Err returns it.
func (l *Log) Add(r Request) {
	text, err := json.Marshal(newLine(&r))
	if err != nil {
		panic(err) // a line has texts and numbers only
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.to.Write(append(text, '\n')); l.err == nil {
		l.err = err
	}
}

// Err is the first error of writing.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// A logLine is a request in a log. Its instants are milliseconds since Received.
type logLine struct {
	ID         string    `json:"id,omitempty"`
	Received   time.Time `json:"received"`
	Queued     float64   `json:"queued_ms"`
	Scheduled  float64   `json:"scheduled_ms"`
	FirstToken float64   `json:"first_token_ms"`
	Wrote      float64   `json:"wrote_ms"`
	LastToken  float64   `json:"last_token_ms"`
	LastWrote  float64   `json:"last_wrote_ms"`
	Ended      float64   `json:"ended_ms"`
	Spans      spans     `json:"spans_ms"`
	In         int       `json:"prompt_tokens"`
	Out        int       `json:"output_tokens"`
	Finish     string    `json:"finish_reason"`
	Whole      bool      `json:"whole,omitempty"`
}

// spans are the same as durations in milliseconds.
type spans struct {
	FrontEnd   float64 `json:"front_end"`
	Queue      float64 `json:"queue"`
	Prefill    float64 `json:"prefill"`
	Network    float64 `json:"network"`
	Generation float64 `json:"generation"`
}

func newLine(r *Request) logLine {
	since := func(at time.Time) float64 { return Milliseconds(at.Sub(r.Received)) }
	return logLine{
		ID: r.ID, Received: r.Received.UTC(),
		Queued: since(r.Queued), Scheduled: since(r.Scheduled), FirstToken: since(r.FirstToken),
		Wrote: since(r.Wrote), LastToken: since(r.LastToken), LastWrote: since(r.LastWrote), Ended: since(r.Ended),
		Spans: spans{
			FrontEnd: Milliseconds(r.frontEnd()), Queue: Milliseconds(r.Scheduled.Sub(r.Queued)),
			Prefill: Milliseconds(r.FirstToken.Sub(r.Scheduled)), Network: Milliseconds(r.Network),
			Generation: Milliseconds(r.generation()),
		},
		In: r.In, Out: r.Out, Finish: r.Finish, Whole: r.Whole,
	}
}

// Milliseconds is d in milliseconds, to the nanosecond.
func Milliseconds(d time.Duration) float64 { return float64(d) / 1e6 }
