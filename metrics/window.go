package metrics

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics/cost"
)

// A Window is a part of a run, from one offset of its clock to another, both included.
type Window struct {
	From time.Duration `json:"from"`
	To   time.Duration `json:"to"`
}

// Seconds is the length of the window.
func (w Window) Seconds() float64 { return (w.To - w.From).Seconds() }

// Meet is the common part of two windows; without one, To is before From.
func (w Window) Meet(other Window) Window {
	return Window{max(w.From, other.From), min(w.To, other.To)}
}

func (w Window) holds(at time.Duration) bool { return w.From <= at && at <= w.To }

func (w Window) Shift(d time.Duration) Window { return Window{w.From + d, w.To + d} }

// Whole is the run's measured part on the clock of its Records.
func (s *Summary) Whole() Window {
	if math.IsNaN(s.Seconds) {
		return Window{s.Began, s.Began}
	}
	return Window{s.Began, s.Began + seconds(s.Seconds)}
}

// A split says which part of what the GPUs did is put to one of several targets, by the time in
// which any of its measured requests was in flight.
type split struct {
	share float64 // of the sum of these times over all targets
	whole Window  // of all targets together
}

// Split divides what GPUs cost over the targets that shared them: the runs of one load test, as of a
// pair, that were not alone and have the same --gpu-metrics. Call it once all Summaries of a group are
// there.
func Split(sums []*Summary) {
	type shared struct {
		group string
		pair  [2]string // in one order
		gpus  string
	}
	keys, by := By(sums, func(s *Summary) shared {
		key := shared{group: s.Header.Group, gpus: Value(s.Header.Flags, "gpu-metrics")}
		if a, b := s.Header.Target, s.Header.With; b != "" {
			key.pair = [2]string{min(a, b), max(a, b)}
		}
		return key
	})
	for _, key := range keys {
		all := slices.DeleteFunc(by[key], func(s *Summary) bool { return s.Header.Solo || s.Truth == nil })
		if key.group == "" || len(all) < 2 {
			continue
		}
		busy, whole := time.Duration(0), all[0].Whole()
		for _, s := range all {
			busy += s.Truth.Busy
			whole = Window{min(whole.From, s.Whole().From), max(whole.To, s.Whole().To)}
		}
		for _, s := range all {
			s.split = &split{float64(s.Truth.Busy) / float64(max(busy, 1)), whole}
		}
	}
}

// Energy is what the run took from its GPUs, in its measured part; nil if they were not sampled. For
// a target that shared GPUs with others it is an estimate: its share of all energy in the measured
// parts of all of them. See Split.
func (s *Summary) Energy() *cost.Energy {
	if len(s.power) == 0 {
		return nil
	}
	span := s.Whole()
	if s.split == nil {
		return new(s.power.Energy(span.From, span.To))
	}
	if s.Part == nil {
		span = s.split.whole
	}
	e := s.power.Energy(span.From, span.To)
	e.Joules *= s.split.share
	e.Share = s.split.share
	return &e
}

// Tokens are the prompt and output tokens of completed requests together.
func (s *Summary) Tokens() int { return max(s.TotalInput, 0) + max(s.TotalOutput, 0) }

// Dollars is what the GPUs of the run cost while it was measured, by Config.Price; NaN without a
// price. A target that shared its GPUs with others pays its share: see Split.
func (s *Summary) Dollars() float64 {
	seconds, share := s.Seconds, 1.0
	if s.split != nil {
		share = s.split.share
	}
	if s.split != nil && s.Part == nil {
		seconds = s.split.whole.Seconds()
	}
	return s.Header.Config.Price.Dollars(s.Header.Config.GPUs(), seconds) * share
}

// Loaded is the window with the full load, by the Trace: from the first measured request sent to
// the last, since after that the number in flight falls. If all were sent at once, the window lasts
// until the last has ended. It is false if there is no such time.
func (s *Summary) Loaded() (Window, bool) {
	var sent, ended extent
	burst := !s.Header.Config.Paced() && math.IsInf(s.Header.Config.RequestRate, 1)
	for r := range s.Measured() {
		sent.add(r.Sent)
		ended.add(r.End)
		burst = burst && r.Turn == 0 && r.Queue() == 0
	}
	w := Window{sent.first, sent.last}
	if burst {
		w.To = ended.last
	}
	return w, sent.any && w.From < w.To
}

// Measured yields the Records of the Trace without the warm-up. Each is valid until the next.
func (s *Summary) Measured() iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		if s.Trace == nil {
			return
		}
		for r := range s.Trace.Records.all() {
			if r.Phase != WarmUp && !yield(r) {
				return
			}
		}
	}
}

// done is when r's last chunk came, or when it failed.
func (r *Record) done() time.Duration {
	if r.Class != OK {
		return r.End
	}
	return cmp.Or(r.Last, r.End)
}

// A Part says which part of a run a Summary is about.
type Part struct {
	Window
	Steady bool // Steady found that the run was in a steady state here

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
	e := excerpt{Collector: NewCollector(s.Header), of: s, part: Part{Window: w}, busy: buckets{origin: w.From.Seconds()}, outputs: map[*Adapter]int{}}
	for r := range s.Measured() {
		e.take(r)
	}
	return e.summary()
}

// An excerpt builds the Summary of a window. Its Collector gets the requests wholly inside.
type excerpt struct {
	*Collector
	of       *Summary // the whole run
	part     Part
	busy     buckets // from the window's start
	output   int     // tokens that came inside
	tokens   steps
	inFlight inFlight
	outputs  map[*Adapter]int // likewise; of no adapter, by nil
}

func (e *excerpt) take(r *Record) {
	w, done := e.part.Window, r.done()
	e.part.Requests++
	if here := w.Meet(Window{r.Sent, r.End}); here.From <= here.To {
		e.inFlight.add(here.From, here.To, DefaultCap)
	}
	switch {
	case w.holds(r.Sent) && w.holds(done):
		e.part.Inside++
		e.Add(r)
	case r.Sent <= w.To && done >= w.From:
		e.part.Crossing++
		e.cross(r, w.holds(done))
	default:
		return
	}
	if r.Class == OK {
		e.arrivals(r)
	}
}

// cross counts a request that was in progress at an edge; ended says whether it ended inside.
func (e *excerpt) cross(r *Record, ended bool) {
	if r.Phase == Main && r.Turn == 0 && e.part.holds(r.Sent) {
		e.witness.addStart(r)
	}
	if r.Class == OK && !r.Whole && r.Chunks.Len() > 0 && e.part.holds(r.Sent) && e.part.holds(r.Chunks.First()) {
		e.put(&e.sum.TTFT, r.TTFT().Seconds())
		if row := e.adapters.of(r.Adapter); row != nil {
			row.TTFT.Add(r.TTFT().Seconds())
		}
	}
	if !ended {
		return
	}
	o := r.outcome(e.scratch[:0])
	e.scratch = o.ITL
	kept := good(&o, e.header.Config.Goodput)
	if row := e.adapters.of(r.Adapter); row != nil {
		row.count(&o, kept)
	}
	if !o.Success {
		e.classify(r)
		e.fail(o)
		return
	}
	e.sum.Completed++
	e.sum.TotalInput += o.In
	e.sum.Carried.add(o.Carried)
	if kept {
		e.good++
	}
}

// arrivals counts what came inside for a completed request.
func (e *excerpt) arrivals(r *Record) {
	w := e.part.Window
	a, row := r.attribute(), e.adapters.of(r.Adapter)
	for at, tokens := range r.arrivals(&a) {
		if !w.holds(at) {
			continue
		}
		e.output += tokens
		e.outputs[row] += tokens
		e.tokens.add(at, tokens)
		count(&e.busy.chunks, (at - w.From).Seconds())
	}
	touched := w.Meet(Window{r.Sent, r.done()}).Shift(-w.From)
	for second := math.Floor(touched.From.Seconds()); second <= touched.To.Seconds() && second < maxBuckets; second++ {
		count(&e.busy.requests, second)
	}
}

func (e *excerpt) summary() *Summary {
	e.sum.TotalOutput = e.output
	for _, row := range e.adapters.rows {
		row.Output = e.outputs[row]
	}
	e.witness.tokens, e.witness.inFlight = e.tokens, e.inFlight
	s := e.Summary(e.part.Seconds())
	s.power, s.split = e.of.power, e.of.split
	if e.Gapless() {
		s.ITL = Distribution{Quoted: NewQuote()}
	}
	s.Part, s.Sessions = &e.part, nil // most sessions are not wholly inside
	s.Began = e.part.From
	if !s.Header.Epoch.IsZero() {
		s.Date = s.Header.Epoch.Add(e.part.To)
	}
	s.PeakOutput, s.PeakConcurrent = 0, 0
	if len(e.busy.chunks) > 0 {
		s.PeakOutput = float64(slices.Max(e.busy.chunks))
	}
	if len(e.busy.requests) > 0 {
		s.PeakConcurrent = slices.Max(e.busy.requests)
	}
	s.inOnePiece()
	s.pooled()
	// The ramp opens the run, not a part of it.
	s.Truth.Ramp = Ramp{}
	return s
}

// The samples of the number in flight in which to look for a steady state.
const (
	fewestSamples = 50 // least number that says anything: ten batches
	mostSamples   = 10_000
	batch         = 5 // samples
)

// Steady is the window in which the run was in a steady state, by the Trace. Its end is when the
// last measured request was sent: after that the load drains. Its start is where MSER-5 truncates
// the number of measured requests in flight. It takes one sample for each request, in equal steps
// from the first request sent to that end. MSER: White, An effective truncation heuristic for bias
// reduction in simulation output, Simulation 69(6), 1997; in batches of five: Spratt 1998, and
// White, Cobb, Spratt, A comparison of five steady-state truncation heuristics for simulation,
// Winter Simulation Conference 2000. It is false if there are fewer than fifty requests, or if the
// truncation point is in the second half.
func (s *Summary) Steady() (Window, bool) {
	var sent extent
	var starts, ends []time.Duration
	for r := range s.Measured() {
		sent.add(r.Sent)
		starts, ends = append(starts, r.Sent), append(ends, r.End)
	}
	w := Window{sent.first, sent.last}
	samples := min(len(starts), mostSamples) / batch * batch
	if samples < fewestSamples || w.From == w.To {
		return w, false
	}
	slices.Sort(starts)
	slices.Sort(ends)
	step := w.Seconds() / float64(samples)
	begun, ended := 0, 0
	means := make([]float64, samples/batch)
	for i := range samples {
		// In the middle of a step, or the first would see only the first request.
		at := w.From + seconds((float64(i)+0.5)*step)
		for begun < len(starts) && starts[begun] <= at {
			begun++
		}
		for ended < len(ends) && ends[ended] <= at {
			ended++
		}
		means[i/batch] += float64(begun-ended) / batch
	}
	at, ok := truncation(means)
	w.From += seconds(float64(at*batch) * step)
	return w, ok
}

// truncation is how many values MSER cuts off: the number that minimises the squared error of the
// mean of the rest, the sum of their squared deviations over the square of their number. It looks
// only at the first half, since a few values at the end prove nothing: a minimum at the half means
// that the true one is further, and is not found.
func truncation(values []float64) (n int, ok bool) {
	half := len(values) / 2
	least := math.Inf(1)
	mean, squares := 0.0, 0.0 // by Welford's recurrence, from the end
	for i := len(values) - 1; i >= 0; i-- {
		rest := float64(len(values) - i)
		off := values[i] - mean
		mean += off / rest
		squares += off * (values[i] - mean)
		if loss := squares / (rest * rest); i <= half && loss <= least {
			n, least = i, loss
		}
	}
	return n, n < half
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
