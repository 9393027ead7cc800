// Package spans is where the time of the requests of a run went: each request's from due to its end, in parts that
// follow one another.
package spans

import (
	"iter"
	"math"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
)

// A Span is one part of the time that a request took. The spans of a request follow one another, in
// the order of these constants, and leave nothing out: together they take from Due to End.
type Span int

// The spans. A request has ServerQueue, Prefill and Network if its server reports its times, and
// FirstOutput in their place if not.
const (
	Slot    Span = iota // from due until it had a slot
	Lag                 // until we sent it
	Connect             // opening its connection: name, TCP, proxy and TLS
	// Write lasts until its last byte was written, or until the answer began if that was earlier.
	// It includes earlier attempts.
	Write
	ServerQueue // in the server until it was scheduled: its model was loaded, and it waited in the engine's queue
	Prefill     // from then until the engine had the first token
	// Network is the rest until the first chunk: network and front end, both ways. It may be
	// negative.
	Network
	FirstOutput // from written to the first chunk, undivided
	Generation  // from the first chunk to the last
	Read        // until we had read the end of the answer
	spanCount
)

// spanNames are the names of the spans in files.
var spanNames = [spanCount]string{
	"slot", "lag", "connect", "write", "server_queue", "prefill", "network", "first_output", "generation", "read",
}

// String is the name of the span in files.
func (s Span) String() string { return spanNames[s] }

// spanLabels are the names of the spans in words.
var spanLabels = [spanCount]string{
	"wait for a slot", "lag", "connect", "write", "server queue", "prefill", "network and front end",
	"until the first output", "generation", "read",
}

// Label is the name of the span in words.
func (s Span) Label() string { return spanLabels[s] }

// Spans are how long each Span took: of one request, or of several together. The word is
// OpenTelemetry's.
type Spans [spanCount]time.Duration

// All yields the spans in order, and also spans of no length.
func (s *Spans) All() iter.Seq2[Span, time.Duration] {
	return func(yield func(Span, time.Duration) bool) {
		for i, took := range s {
			if !yield(Span(i), took) {
				return
			}
		}
	}
}

// Total is the time of all spans.
func (s *Spans) Total() (total time.Duration) {
	for _, took := range s {
		total += took
	}
	return total
}

// TTFT is the time from sent to the first chunk, as Record.TTFT.
func (s *Spans) TTFT() time.Duration {
	return s[Connect] + s[Write] + s[ServerQueue] + s[Prefill] + s[Network] + s[FirstOutput]
}

// OfRequest are the spans of a completed request; false for any other. Of a request that was sent more
// than once they have the connection and the answer of the last attempt. If the write is unknown,
// FirstOutput or Network begins with it. An answer that came whole has a Generation only if the
// server reports one.
func OfRequest(r *record.Record) (s Spans, completed bool) {
	if r.Result.Class != record.OK || r.Answer.Chunks.Len() == 0 || r.Impossible() {
		return s, false
	}
	ready := max(r.Times.Due, r.Times.Slot)
	s[Slot], s[Lag] = ready-r.Times.Due, r.Times.Sent-ready
	s[Connect] = r.Conn.DNS + r.Conn.Connect + r.Conn.Proxy + r.Conn.TLS
	written := r.Times.Sent + s[Connect]
	if r.Times.Wrote > 0 {
		// The write may return after the answer has begun, if we get no core.
		end := r.Times.Wrote
		if r.Times.FirstByte > 0 {
			end = min(end, r.Times.FirstByte)
		}
		s[Write], written = end-written, end
	}
	first := r.Answer.Chunks.First()
	last := max(r.Times.Last, first)
	s[Generation], s[Read] = last-first, r.Times.End-last
	s[FirstOutput] = first - written
	if queue, prefill, generation, told := told(r); told {
		s[ServerQueue], s[Prefill] = queue, prefill
		s[Network], s[FirstOutput] = s[FirstOutput]-queue-prefill-generation, 0
		s[Generation] += generation
	}
	return s, true
}

// told are the times that divide the time until the first chunk, by the server; false unless all of
// them are known. generation is the part of an answer that came whole, 0 for a stream.
func told(r *record.Record) (queue, prefill, generation time.Duration, told bool) {
	if r.Server == nil {
		return 0, 0, 0, false
	}
	queue, one := span(r.Server.QueueMS)
	load, _ := span(r.Server.LoadMS)
	prefill, two := span(r.Server.TTFTMS)
	generation, three := span(r.Server.GenerationMS)
	if !r.Answer.Unstreamed {
		generation, three = 0, true
	}
	return load + queue, prefill, generation, one && two && three
}

// span is a number of milliseconds as a time; false for nil, and for what no request takes.
func span(ms *float64) (took time.Duration, told bool) {
	if ms == nil || !(*ms >= 0 && *ms < 1e9) {
		return 0, false
	}
	return time.Duration(math.Round(*ms * float64(time.Millisecond))), true
}

// A Waterfall is the spans of the completed requests of a run, one request's after the other's.
type Waterfall struct {
	Requests int   // whose spans are in it
	Spans    Spans // of all of them together

	// Divided are the requests whose server reported its times, and Negative the part of them in
	// which they took longer than we waited: their Network is below 0.
	Divided  int
	Negative int

	// Counted are the requests of which the server's histograms have the times, each answer of a
	// request counted; 0 unless the histograms divide FirstOutput. The division is then of
	// means only.
	Counted int64
}

// Kind is the aspect as the list has it.
var Kind = &metrics.Kind{Name: "spans", New: func(*metrics.Header) metrics.Aspect { return new(Waterfall) }}

// Of is the Waterfall of the completed requests of a run; nil if it is unknown. If the server reports
// nothing by request, the means of its histograms divide FirstOutput: see Counted.
func Of(s *metrics.Summary) *Waterfall {
	w := *metrics.View[Waterfall](s)
	if w.Requests == 0 {
		return nil
	}
	if s.Evidence != nil && w.Divided == 0 {
		w.divide(s.Evidence.Server.Times, &s.Header.Config)
	}
	return &w
}

// Each are the distributions of the spans over completed requests, by Span, from the Trace; empty
// without a Trace. A Span that no request has is empty, and so are all of no length.
func Each(s *metrics.Summary) []metrics.Distribution {
	all := make([]metrics.Distribution, spanCount)
	there := make([]bool, spanCount)
	for r := range s.Measured() {
		spans, completed := OfRequest(r)
		if !completed {
			continue
		}
		_, _, _, told := told(r)
		for span, took := range spans.All() {
			switch span {
			case ServerQueue, Prefill, Network:
				if !told {
					continue
				}
			case FirstOutput:
				if told {
					continue
				}
			}
			there[span] = there[span] || took != 0
			all[span].Add(took.Seconds())
		}
	}
	for span := range all {
		if !there[span] {
			all[span] = metrics.Distribution{}
		}
	}
	return all
}

// leastCounted is the share of the completed requests that the server must have counted: without
// some of them its means are of other requests.
const leastCounted = 0.9

// divide divides the time until the first chunk by the means of a server's histograms, nil for none, in
// a run with Config c. The server counts each answer to a request.
func (w *Waterfall) divide(t *samples.Totals, c *metrics.Config) {
	whole, least := c.Whole, leastCounted*float64(w.Requests*max(c.Traits.Answers, 1))
	if t == nil || float64(min(t.Queue.Requests, t.Prefill.Requests)) < least || whole && t.Generation.Requests == 0 {
		return
	}
	mine := func(all samples.Total) time.Duration {
		return time.Duration(math.Round(all.Nanoseconds() * float64(w.Requests)))
	}
	queue, prefill, generation := mine(t.Queue), mine(t.Prefill), time.Duration(0)
	if whole {
		generation = mine(t.Generation)
	}
	w.Counted = t.Prefill.Requests
	w.Spans[ServerQueue], w.Spans[Prefill] = queue, prefill
	w.Spans[Network], w.Spans[FirstOutput] = w.Spans[FirstOutput]-queue-prefill-generation, 0
	w.Spans[Generation] += generation
}

// Mean is the mean of a span over all requests, in milliseconds; 0 without requests. The means of
// all spans add up to the mean of Total.
func (w *Waterfall) Mean(s Span) float64 {
	if w.Requests == 0 {
		return 0
	}
	return metrics.Milliseconds(w.Spans[s]) / float64(w.Requests)
}

// Add adds a request, if it completed.
func (w *Waterfall) Add(r *record.Record) {
	s, completed := OfRequest(r)
	if !completed {
		return
	}
	w.Requests++
	if _, _, _, told := told(r); told {
		w.Divided++
	}
	if s[Network] < 0 {
		w.Negative++
	}
	for span, took := range s.All() {
		w.Spans[span] += took
	}
}

// Merge adds another shard's requests.
func (w *Waterfall) Merge(o metrics.Aspect) {
	other := o.(*Waterfall)
	w.Requests += other.Requests
	w.Divided += other.Divided
	w.Negative += other.Negative
	for span, took := range other.Spans.All() {
		w.Spans[span] += took
	}
}
