package metrics

import (
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/tally"
)

// A Part says which part of a run a Summary is about.
type Part struct {
	Window
	Steady bool // metrics/steady found that the run was in a steady state here

	Requests int // measured in the whole run
	Inside   int // of these, requests wholly inside the window
	Crossing int // of these, requests in progress at an edge of it
}

// Within sums up a window by the Trace, which it needs. TTFT is of the requests that were sent and
// got their first chunk inside. Other latencies are of requests wholly inside, from Sent to the
// last chunk. A short window favours short requests, so Part counts those that are left out.
// Throughput is of what came inside, over the length of the window: completed requests by their
// last chunk, with their input tokens, and the output tokens of completed requests by their chunks.
// Failures count when they happened, and peaks are in seconds from the window's start. The Truth's
// pace is of the requests sent inside; there is no Trust.
func (s *Summary) Within(w Window) *Summary {
	e := excerpt{inside: NewCollector(s.Header, s.views.kinds()...), of: s, part: Part{Window: w}}
	for r := range s.Measured() {
		e.take(r)
	}
	return e.summary()
}

// An excerpt builds the Summary of a window.
type excerpt struct {
	inside   *Collector // of the requests wholly inside
	of       *Summary   // the whole run
	part     Part
	busy     tally.Seconds    // from the window's start
	output   int              // tokens that came inside
	whole    tally.TimeSeries // when tokens came, if answers are not streamed
	inFlight tally.InFlight
}

func (e *excerpt) take(r *record.Record) {
	w, done := e.part.Window, r.Done()
	e.part.Requests++
	if here := w.Meet(Window{r.Times.Sent, r.Times.End}); here.From <= here.To {
		e.inFlight.Add(here.From, here.To, DefaultCap)
	}
	switch {
	case w.Holds(r.Times.Sent) && w.Holds(done):
		e.part.Inside++
		e.inside.Add(r)
	case r.Times.Sent <= w.To && done >= w.From:
		e.part.Crossing++
		e.cross(r, w.Holds(done))
	default:
		return
	}
	e.inside.views.addPart(r, w)
	if r.Result.Class == record.OK {
		e.arrivals(r)
	}
}

// cross counts a request that was in progress at an edge; ended says whether it ended inside.
func (e *excerpt) cross(r *record.Record, ended bool) {
	chunks := &r.Answer.Chunks
	if r.Result.Class == record.OK && !r.Answer.Unstreamed && chunks.Len() > 0 && e.part.Holds(r.Times.Sent) &&
		e.part.Holds(chunks.First()) {
		e.inside.put(&e.inside.sum.TTFT, r.TTFT().Seconds())
	}
	if !ended {
		return
	}
	o := outcomeOf(r, e.inside.scratch[:0])
	e.inside.scratch = o.ITL
	if !o.Success {
		e.inside.fail(o)
		return
	}
	e.inside.complete(&o)
}

// arrivals counts what came inside for a completed request.
func (e *excerpt) arrivals(r *record.Record) {
	w := e.part.Window
	a := record.Attribute(r)
	for at, tokens := range a.Arrivals(r) {
		if !w.Holds(at) {
			continue
		}
		e.output += tokens
		if r.Answer.Unstreamed {
			e.whole.Add(at, tokens)
		}
		e.busy.AddChunk((at - w.From).Seconds())
	}
	touched := w.Meet(Window{r.Times.Sent, r.Done()}).Shift(-w.From)
	e.busy.AddRequest(touched.From.Seconds(), touched.To.Seconds())
}

func (e *excerpt) summary() *Summary {
	e.inside.sum.Totals.Output = e.output
	e.inside.witness.whole, e.inside.witness.inFlight = e.whole, e.inFlight
	s := e.inside.Summary(e.part.Seconds())
	s.views = append(s.views, e.of.views.shared()...)
	if e.inside.Gapless() {
		s.ITL = Distribution{Quoted: NewQuote()}
	}
	s.Parts.Of = &e.part
	s.When.Began = e.part.From
	if !s.Header.Epoch.IsZero() {
		s.When.Date = s.Header.Epoch.Add(e.part.To)
	}
	chunks, requests := e.busy.Peaks()
	s.Rates.PeakOutput, s.Rates.PeakConcurrent = float64(chunks), requests
	e.inside.witness.inOnePiece(s)
	s.pooled()
	return s
}
