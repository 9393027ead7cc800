package metrics

import (
	"iter"
	"math"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

// A Span is one part of the time that a request took. The spans of a request follow one another, in
// the order of these constants, and leave nothing out: together they take from Due to End.
type Span int

// The spans. A request has ServerQueue, Prefill and Network if its server reports its times, and
// FirstOutput in their place if not.
const (
	SpanSlot    Span = iota // from due until it had a slot
	SpanLag                 // until we sent it
	SpanConnect             // opening its connection: name, TCP, proxy and TLS
	// SpanWrite lasts until its last byte was written, or until the answer began if that was earlier.
	// It includes earlier attempts.
	SpanWrite
	SpanServerQueue // in the engine's queue, until it was scheduled
	SpanPrefill     // from then until the engine had the first token
	// SpanNetwork is the rest until the first chunk: network and front end, both ways. It may be
	// negative.
	SpanNetwork
	SpanFirstOutput // from written to the first chunk, undivided
	SpanGeneration  // from the first chunk to the last
	SpanRead        // until we had read the end of the answer
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
	return s[SpanConnect] + s[SpanWrite] + s[SpanServerQueue] + s[SpanPrefill] + s[SpanNetwork] + s[SpanFirstOutput]
}

// SpansOf are the spans of a completed request; false for any other. Of a request that was sent more
// than once they have the connection and the answer of the last attempt. If the write is unknown,
// FirstOutput or Network begins with it. An answer that came whole has a Generation only if the
// server reports one.
func SpansOf(r *record.Record) (s Spans, completed bool) {
	if r.Result.Class != record.OK || r.Answer.Chunks.Len() == 0 || r.Impossible() {
		return s, false
	}
	ready := max(r.Times.Due, r.Times.Slot)
	s[SpanSlot], s[SpanLag] = ready-r.Times.Due, r.Times.Sent-ready
	s[SpanConnect] = r.Conn.DNS + r.Conn.Connect + r.Conn.Proxy + r.Conn.TLS
	written := r.Times.Sent + s[SpanConnect]
	if r.Times.Wrote > 0 {
		// The write may return after the answer has begun, if we get no core.
		end := r.Times.Wrote
		if r.Times.FirstByte > 0 {
			end = min(end, r.Times.FirstByte)
		}
		s[SpanWrite], written = end-written, end
	}
	first := r.Answer.Chunks.First()
	last := max(r.Times.Last, first)
	s[SpanGeneration], s[SpanRead] = last-first, r.Times.End-last
	s[SpanFirstOutput] = first - written
	if queue, prefill, generation, told := told(r); told {
		s[SpanServerQueue], s[SpanPrefill] = queue, prefill
		s[SpanNetwork], s[SpanFirstOutput] = s[SpanFirstOutput]-queue-prefill-generation, 0
		s[SpanGeneration] += generation
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
	prefill, two := span(r.Server.TTFTMS)
	generation, three := span(r.Server.GenerationMS)
	if !r.Answer.Unstreamed {
		generation, three = 0, true
	}
	return queue, prefill, generation, one && two && three
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
	// request counted; 0 unless the histograms divide SpanFirstOutput. The division is then of
	// means only.
	Counted int64
}

// Waterfall is the Waterfall of the completed requests; nil if it is unknown. If the server reports
// nothing by request, the means of its histograms divide SpanFirstOutput: see Counted.
func (s *Summary) Waterfall() *Waterfall {
	if s.Truth == nil || s.Truth.Waterfall.Requests == 0 {
		return nil
	}
	w := s.Truth.Waterfall
	if s.Evidence != nil && w.Divided == 0 {
		w.divide(s.Evidence.Times, &s.Header.Config)
	}
	return &w
}

// EachSpan are the distributions of the spans over completed requests, by Span, from the Trace; empty
// without a Trace. A Span that no request has is empty, and so are all of no length.
func (s *Summary) EachSpan() []Distribution {
	all := make([]Distribution, spanCount)
	there := make([]bool, spanCount)
	for r := range s.Measured() {
		spans, completed := SpansOf(r)
		if !completed {
			continue
		}
		_, _, _, told := told(r)
		for span, took := range spans.All() {
			switch span {
			case SpanServerQueue, SpanPrefill, SpanNetwork:
				if !told {
					continue
				}
			case SpanFirstOutput:
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
			all[span] = Distribution{}
		}
	}
	return all
}

// leastCounted is the share of the completed requests that the server must have counted: without
// some of them its means are of other requests.
const leastCounted = 0.9

// divide divides the time until the first chunk by the means of a server's histograms, nil for none, in
// a run with Config c. The server counts each answer to a request.
func (w *Waterfall) divide(t *ServerTotals, c *Config) {
	whole, least := c.Whole, leastCounted*float64(w.Requests*max(c.Traits.Answers, 1))
	if t == nil || float64(min(t.Queue.Requests, t.Prefill.Requests)) < least || whole && t.Generation.Requests == 0 {
		return
	}
	mine := func(all TimeTotal) time.Duration { return time.Duration(math.Round(all.mean() * float64(w.Requests))) }
	queue, prefill, generation := mine(t.Queue), mine(t.Prefill), time.Duration(0)
	if whole {
		generation = mine(t.Generation)
	}
	w.Counted = t.Prefill.Requests
	w.Spans[SpanServerQueue], w.Spans[SpanPrefill] = queue, prefill
	w.Spans[SpanNetwork], w.Spans[SpanFirstOutput] = w.Spans[SpanFirstOutput]-queue-prefill-generation, 0
	w.Spans[SpanGeneration] += generation
}

// ServerTotals are times that a server itself measured and added up, of all requests that ended
// between two looks at its /metrics: also of warm-ups and of other clients. What it does not measure
// is empty.
type ServerTotals struct {
	Queue      TimeTotal `json:"queue,omitzero"`      // until it was scheduled
	Prefill    TimeTotal `json:"prefill,omitzero"`    // from then until the first token
	Generation TimeTotal `json:"generation,omitzero"` // from then until the last
	TTFT       TimeTotal `json:"ttft,omitzero"`       // from its arrival until the first token
}

// A TimeTotal is a sum of times, and of how many requests it is.
type TimeTotal struct {
	Seconds  float64 `json:"seconds"`
	Requests int64   `json:"requests"`
}

// Mean is the mean in milliseconds; 0 without requests.
func (t TimeTotal) Mean() float64 { return t.mean() / float64(time.Millisecond) }

// mean is the mean in nanoseconds.
func (t TimeTotal) mean() float64 {
	if t.Requests <= 0 {
		return 0
	}
	return t.Seconds / float64(t.Requests) * float64(time.Second)
}

// each calls f with each total of t and of other.
func (t *ServerTotals) each(other *ServerTotals, f func(a, b *TimeTotal)) {
	f(&t.Queue, &other.Queue)
	f(&t.Prefill, &other.Prefill)
	f(&t.Generation, &other.Generation)
	f(&t.TTFT, &other.TTFT)
}

// Plus is the sum of t and other.
func (t ServerTotals) Plus(other ServerTotals) ServerTotals {
	t.each(&other, func(a, b *TimeTotal) { a.Seconds, a.Requests = a.Seconds+b.Seconds, a.Requests+b.Requests })
	return t
}

// Since is what was added since before; empty for what went back.
func (t ServerTotals) Since(before ServerTotals) ServerTotals {
	t.each(&before, func(a, b *TimeTotal) {
		if a.Seconds, a.Requests = a.Seconds-b.Seconds, a.Requests-b.Requests; a.Requests <= 0 || a.Seconds < 0 {
			*a = TimeTotal{}
		}
	})
	return t
}

// Mean is the mean of a span over all requests, in milliseconds; 0 without requests. The means of
// all spans add up to the mean of Total.
func (w *Waterfall) Mean(s Span) float64 {
	if w.Requests == 0 {
		return 0
	}
	return Milliseconds(w.Spans[s]) / float64(w.Requests)
}

// Add adds a request, if it completed.
func (w *Waterfall) Add(r *record.Record) {
	s, completed := SpansOf(r)
	if !completed {
		return
	}
	w.Requests++
	if _, _, _, told := told(r); told {
		w.Divided++
	}
	if s[SpanNetwork] < 0 {
		w.Negative++
	}
	for span, took := range s.All() {
		w.Spans[span] += took
	}
}

// merge adds the requests of another.
func (w *Waterfall) merge(other *Waterfall) {
	w.Requests += other.Requests
	w.Divided += other.Divided
	w.Negative += other.Negative
	for span, took := range other.Spans.All() {
		w.Spans[span] += took
	}
}
