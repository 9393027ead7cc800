// Package metrics turns the records of single requests into the numbers of a run.
//
// A record.Record says what one request did. A Collector takes Records and returns a Summary at any time:
// the numbers that vLLM's serving benchmark defines, the Truth that those leave out, and the
// Evidence of how good the measurement was. With a Trace, a Summary can be cut into windows, and by
// metrics/slicing into equal parts. Views of the requests that not every reader needs are Aspects.
//
// A latency is a Distribution: exact values up to a limit, and an HDR histogram of all values.
// Values go in as seconds and come out as milliseconds, as in vLLM's client. Times are offsets from
// the start of the run.
//
// A Summary can also be read from the output of other tools. It then quotes what is printed there:
// unknown numbers are NaN, unknown counts are -1.
//
// This package imports only metrics/record and ground packages of servebench. The other packages below it
// import only those above them in this list:
//
//	metrics
//	metrics/aspect   views of the requests of a run
//	metrics/pyjson   JSON as Python writes it
//	metrics/scrape   servers' metrics in Prometheus' format
//	metrics/trust    whether to believe a Summary
//	metrics/vllm     vLLM's result block and result file, both ways
//	metrics/stream   Records in a file, written and read
//	metrics/compare  statistics between runs
package metrics

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
	"github.com/servebench/servebench/metrics/tally"
	"github.com/servebench/servebench/metrics/verdict"
)

// A Summary is the result of a run, by the definitions of vLLM's serving benchmark client. When
// read from a file, unknown counts are -1 and other unknown numbers are NaN, also in the Header's
// Config. Goodput is also NaN if there was no SLO. Its receiver owns it.
type Summary struct {
	Header *Header
	Source Source
	When   When

	Completed, Failed int // requests
	Totals            Totals
	Rates             Rates

	TTFT, TPOT, ITL, E2EL Distribution // completed requests
	Client                Client

	Truth    *Truth             // what the numbers above leave out; nil unless it comes from Records
	Evidence *evidence.Evidence // what the load generator noticed; nil if nothing watched
	Trust    *verdict.Trust     // the verdict; nil before the run is judged

	Printed Printed
	Kept    Kept
	Parts   Parts
	Ending  Ending

	views views // see View
}

// Source is where the numbers of a run come from.
type Source struct {
	Origin Origin // where it was read; zero for a run that was not read
	// Fingerprint is the same for copies of one result, whatever their names. It is empty for a run with
	// an id, and for a block with few numbers.
	Fingerprint string
	// VLLM is the last release that prints the lines of the block that was read; empty if the
	// latest does.
	VLLM string

	Shards    *Shards // of a run that was merged from several; nil for any other
	Unwatched int     // shards that left no evidence
}

// When is when a run was.
type When struct {
	Date time.Time // when it ended, by the wall clock; zero if unknown
	// Began is when the measured part began, on the clock of the Records, and Seconds how
	// long it took, as wall time of the client.
	Began   time.Duration
	Seconds float64
}

// Totals are of completed requests.
type Totals struct {
	Input   int            // prompt tokens
	Output  int            // output tokens
	Carried record.Payload // what they carried together
}

// Rates are what the server did in a second.
type Rates struct {
	Requests float64 // completed requests
	Goodput  float64 // completed requests that met every SLO
	Input    float64 // prompt tokens
	Output   float64 // output tokens
	Total    float64 // input and output tokens
	// Sequences are of a pooling endpoint, which takes several in a request; NaN for other endpoints.
	Sequences float64
	// RTFx is the seconds of sound that completed transcriptions carried; 0 for other APIs.
	RTFx float64
	// PeakOutput is the most chunks that arrived in one second; tokens, if answers are not streamed.
	PeakOutput     float64
	PeakConcurrent int // most requests that touched one second
}

// Client is how long requests and their answers waited at the client.
type Client struct {
	Queue      Distribution // of completed requests
	QueuedE2EL Distribution // Queue and E2EL of a completed request together
	Lag        Distribution // of every measured request
	// Age is how long each chunk's bytes waited in the socket; it only has a histogram.
	Age Distribution
}

// Printed is what vLLM's client prints and writes of a run besides.
type Printed struct {
	Errors tally.Messages // failed requests by message
	// FirstErrors are the messages of the first failed requests in dataset order, at most ten.
	FirstErrors []string

	SpecDecode *samples.SpecDecode
	Diffusion  *samples.Diffusion
	Probes     *Probes
	// RateChanges are the changes of the whole ramp, which an interrupted run does not finish: see
	// Reached.
	RateChanges []RateChange
}

// Kept are the single requests of a run, if they were kept.
type Kept struct {
	Outcomes []Outcome // in dataset order
	Timings  []Timing  // likewise
	Trace    *Trace    // nil unless it was kept
}

// Parts are parts of a run.
type Parts struct {
	Of      *Part          // the part that the numbers are about; nil for the whole run
	Window  *Summary       // of a requested part; nil for none
	Slices  []Slice        // if requested
	Watched *Slice         // the whole run, if it was sampled and has no Slices
	Spans   []Distribution // by spans.Span, if requested; empty without a Trace
}

// Ending is how a run ended.
type Ending struct {
	Interrupted bool   // stopped before all requests were sent and answered
	StoppedBy   string // by what, unless it was an interrupt
	// Incomplete is what is missing from the load, or from the record stream. The Warnings, which a
	// reader of the numbers should know, repeat it.
	Incomplete []string
	Warnings   []string
}

// Warn adds warnings.
func (e *Ending) Warn(texts ...string) { e.Warnings = append(e.Warnings, texts...) }

// Unknown is a Summary in which everything is unknown.
func Unknown() *Summary {
	nan := math.NaN()
	s := &Summary{
		Header: &Header{Config: UnknownConfig()}, When: When{Seconds: nan},
		Completed: -1, Failed: -1, Totals: Totals{Input: -1, Output: -1},
		Rates: Rates{Requests: nan, Goodput: nan, Input: nan, Output: nan, Total: nan, Sequences: nan, RTFx: nan,
			PeakOutput: nan, PeakConcurrent: -1},
	}
	for _, m := range Metrics {
		m.Of(s).Quoted = NewQuote()
	}
	return s
}

// pooled gives a pooling endpoint its own rate, and takes from it what only text has.
func (s *Summary) pooled() {
	if !s.Header.Config.Traits.Pooled {
		s.Rates.Sequences = math.NaN()
		return
	}
	s.Rates.Sequences = Rate(float64(s.Totals.Carried.Inputs), s.When.Seconds)
	s.Totals.Output, s.Rates.Output, s.Rates.PeakOutput = -1, math.NaN(), math.NaN()
}

// Settle sorts the values of all latencies, on all cores and without copies of most. Call it once
// the Collector that made the Summary gets no more requests. Statistics stay the same, bit for bit.
func (s *Summary) Settle() {
	var sorting sync.WaitGroup
	for _, d := range s.latencies() {
		sorting.Go(d.exact.settle)
	}
	for _, d := range s.views.distributions() {
		sorting.Go(d.exact.settle)
	}
	sorting.Wait()
}

// Condense drops the requests and values of a Summary that is kept with many others. Each latency
// keeps 205 KB: its statistics, the requested percentiles and P99, and its histogram.
func (s *Summary) Condense() {
	s.Kept.Trace, s.Kept.Outcomes, s.Kept.Timings, s.Parts.Window, s.Parts.Slices = nil, nil, nil, nil, nil
	percentiles := append(slices.Clone(s.Header.Config.Percentiles), 99)
	for _, d := range s.latencies() {
		d.condense(percentiles)
	}
	for _, d := range s.views.distributions() {
		d.condense(append(percentiles, 90, 95))
	}
}

// Tokens are the prompt and output tokens of completed requests together.
func (s *Summary) Tokens() int { return max(s.Totals.Input, 0) + max(s.Totals.Output, 0) }

// Users is how many users the load stands for: its --max-concurrency, or else the most requests in
// flight. It is NaN if neither is known.
func (s *Summary) Users() float64 {
	switch {
	case s.Header.Config.MaxConcurrency > 0:
		return float64(s.Header.Config.MaxConcurrency)
	case s.Truth != nil && s.Truth.PeakConcurrency > 0:
		return float64(s.Truth.PeakConcurrency)
	case s.Rates.PeakConcurrent > 0:
		return float64(s.Rates.PeakConcurrent)
	}
	return math.NaN()
}

// Overloaded says why the server did not keep up with the requested rate, also for a SUSPECT run;
// empty if it kept up, and if that is unknown.
func (s *Summary) Overloaded() (why string) {
	if s.Trust == nil {
		return ""
	}
	for _, c := range s.Trust.Failed() {
		if c.Name == verdict.BacklogCheck {
			return c.Text
		}
	}
	return ""
}

// Reached are the RateChanges that happened before the run ended.
func (s *Summary) Reached() []RateChange {
	if s.Header.Epoch.IsZero() {
		// A result file has only those, and its date may lack the last second's fraction.
		return s.Printed.RateChanges
	}
	return slices.DeleteFunc(slices.Clone(s.Printed.RateChanges),
		func(c RateChange) bool { return c.At.After(s.When.Date) })
}

// A RateChange is a moment at which a ramp reached its next whole number of
// requests a second.
type RateChange struct {
	RPS int       `json:"rps"`
	At  time.Time `json:"at"`
}
