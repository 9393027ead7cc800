package sim

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/servebench/servebench/loadgen/sim/faults"
)

// events writes server-sent events, as vLLM does or as faults demand.
type events struct {
	w       http.ResponseWriter
	control *http.ResponseController
	stay    func() // returns when the client has gone or the server closes

	eol, field string // field begins a data line
	before     string // precedes each event's data
	multiLine  bool
	split      int // number of writes for what is due at once; 0 means 1
	merge      int // number of events to hold back for one write
	ending     faults.Fault
	huge       int  // MiB of the event of the fault huge-event
	over       bool // a fault has ended the reply

	due    []byte // framed, not written
	held   int    // events in due
	chunks int    // events with choices so far
	wrote  written
}

// written says when the writes of an answer's tokens began.
type written struct {
	first, last time.Time
	complete    bool // the engine has ended the answer
}

func newEvents(ctx context.Context, w http.ResponseWriter, c faults.Choice, quit <-chan struct{}) *events {
	e := &events{
		w: w, control: http.NewResponseController(w),
		eol: "\n", field: "data: ", multiLine: c.Has("multi-line"),
		stay: func() {
			select {
			case <-ctx.Done():
			case <-quit:
			}
		},
	}
	e.split, _ = c.With("split")
	e.merge, _ = c.With("merge")
	switch {
	case c.Has("crlf"):
		e.eol = "\r\n"
	case c.Has("cr"):
		e.eol = "\r"
	}
	if c.Has("no-space") {
		e.field = "data:"
	}
	if c.Has("comment") {
		e.before += ": ping" + e.eol + e.eol
	}
	if c.Has("event-line") {
		e.before += "event: message" + e.eol
	}
	for _, kind := range []string{"error", "error-flat", "cut", "truncate", "stall", "endless", "garbage"} {
		if n, chosen := c.With(kind); chosen {
			e.ending = faults.Fault{Kind: kind, N: n}
		}
	}
	if n, chosen := c.With("huge-event"); chosen {
		e.ending, e.huge = faults.Fault{Kind: "huge-event", N: 1}, n
	}
	return e
}

// open sends the response headers.
func (e *events) open() {
	e.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	e.w.WriteHeader(http.StatusOK)
	e.control.Flush()
}

// chunk adds an event with choices.
func (e *events) chunk(data []byte) {
	e.add(data)
	e.chunks++
}

// add frames an event. Nothing is written before send, unless a fault ends the stream here.
func (e *events) add(data []byte) {
	switch {
	case e.over:
	case e.ending.Kind != "" && e.chunks >= e.ending.N:
		e.misend(data)
	default:
		e.frame(data)
	}
}

func (e *events) frame(data []byte) {
	e.due = append(append(e.due, e.before...), e.field...)
	if i := bytes.Index(data, []byte(`,"object":`)); e.multiLine && i >= 0 {
		e.due = append(append(e.due, data[:i+1]...), e.eol...)
		e.due = append(e.due, e.field...)
		data = data[i+1:]
	}
	e.due = append(append(e.due, data...), e.eol...)
	e.due = append(e.due, e.eol...)
	e.held++
}

// misend ends the stream before an event, as the fault demands.
func (e *events) misend(data []byte) {
	e.over = true
	failure := newProblem(http.StatusInternalServerError, "the simulated engine has failed")
	switch e.ending.Kind {
	case "error":
		e.frame(failure.wrapped())
		e.frame([]byte("[DONE]"))
	case "error-flat":
		e.frame(failure.flat())
		e.frame([]byte("[DONE]"))
	case "cut":
		whole := len(e.due)
		e.frame(data)
		e.due = e.due[:(whole+len(e.due))/2]
		e.write()
		panic(http.ErrAbortHandler)
	case "stall":
		e.write()
		e.stay()
		panic(http.ErrAbortHandler)
	case "garbage":
		e.frame([]byte("{\x00\xff\xfe"))
		e.frame([]byte("[DONE]"))
	case "endless":
		e.write()
		e.frame(data)
		e.repeat(bytes.Clone(e.due))
	case "huge-event":
		e.write()
		e.due = append(e.due, e.field...)
		e.write()
		mebibyte := bytes.Repeat([]byte("x"), 1<<20)
		for range e.huge {
			e.put(mebibyte)
		}
		e.due = append(e.due, e.eol+e.eol...)
	}
	e.write()
}

// repeat writes the same text until the client has gone.
func (e *events) repeat(text []byte) {
	for {
		e.put(text)
	}
}

// put writes text at once, and ends the reply when the client has gone.
func (e *events) put(text []byte) {
	if _, err := e.w.Write(text); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// send writes what is due, if it is enough events.
func (e *events) send() {
	if e.held >= e.merge {
		e.write()
	}
}

func (e *events) write() {
	if len(e.due) == 0 {
		return
	}
	e.wrote.last = time.Now()
	if e.wrote.first.IsZero() {
		e.wrote.first = e.wrote.last
	}
	cuts := []int{len(e.due)}
	for range e.split - 1 {
		cuts = append(cuts, rand.IntN(len(e.due)))
	}
	slices.Sort(cuts)
	from := 0
	for _, to := range cuts {
		e.w.Write(e.due[from:to])
		e.control.Flush()
		from = to
	}
	e.due, e.held = e.due[:0], 0
}
