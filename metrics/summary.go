package metrics

import (
	"math"
	"slices"
	"time"
)

// A Summary is what a run came to. Definitions are those of vLLM's serving
// benchmark client. In one that was read from a file, a count that the file
// does not give is -1 and any other number NaN, also in the Header's Config;
// Goodput is NaN too when no SLO was set. It is owned by its receiver.
type Summary struct {
	Header *Header

	VLLM              string        // release whose lines a block that was read has, when they are not the latest's
	Date              time.Time     // when the run ended, by the wall clock; zero when that is not known
	Began             time.Duration // of the measured part, on the clock of the Records
	Seconds           float64       // duration of the measured part, as wall time of the client
	Completed, Failed int           // requests
	TotalInput        int           // prompt tokens of completed requests
	TotalOutput       int           // output tokens of completed requests
	RequestThroughput float64       // completed requests a second
	Goodput           float64       // completed requests a second that met every SLO
	InputThroughput   float64       // tokens a second
	InputRate         float64       // prompts a second of a pooling endpoint, which takes several in a request; NaN of any other
	OutputThroughput  float64       // tokens a second
	PeakOutput        float64       // most chunks that arrived in one second
	PeakConcurrent    int           // most requests that touched one second
	TotalThroughput   float64       // input and output tokens a second
	RTFx              float64       // seconds of audio a second; 0 without audio

	TTFT, TPOT, ITL, E2EL Distribution // completed requests
	Queue                 Distribution // completed requests
	QueuedE2EL            Distribution // Queue and E2EL together
	Lag                   Distribution // every measured request

	Classes     map[Class]int      // failed requests by class, the cancelled among them
	Failing     map[Class]*Failing // how those of each class failed
	Errors      map[string]int     // failed requests by message
	FirstErrors []string           // messages of the first failed requests in dataset order, ten at most

	Resent Resent // requests that were sent again
	Mixed  string // why the samples of the server's /metrics are not of one process; "" where they may be

	Truth    *Truth       // what the numbers above leave out; nil unless Records were summed up
	Evidence *Evidence    // what the load generator noticed; nil when nobody looked
	Age      Distribution // how long each chunk's bytes lay unread in the socket; a histogram alone
	Trust    *Trust       // the verdict; nil before Judge

	Shards *Shards // of a run that was put together from several; nil for any other

	Unwatched int     // shards that left no evidence
	totals    *Totals // nil unless the Header is of a compact stream

	SpecDecode  *SpecDecode
	Diffusion   *Diffusion
	Probes      *Probes
	RateChanges []RateChange // of the ramp, which an interrupted run does not go to its end: see Reached

	Outcomes    []Outcome // in dataset order, when they were kept
	Lastings    []Lasting // likewise
	Trace       *Trace    // nil unless it was kept
	Part        *Part     // which part of a run the numbers are of; nil for all of it
	Window      *Summary  // of a part that was asked for; nil for none
	Slices      []Slice   // where they were asked for
	Watched     *Slice    // the whole run, where it was sampled and Slices were not asked for
	Interrupted bool      // stopped before all requests were sent and answered
	StoppedBy   string    // by what, unless it was an interrupt
	Incomplete  []string  // what the load, or the record stream that it was read from, lacks; also among the warnings
	Warnings    []string  // what a reader of the numbers should know
}

// Unknown is a Summary of which nothing is known yet.
func Unknown() *Summary {
	nan := math.NaN()
	s := &Summary{
		Header:  &Header{Config: UnknownConfig()},
		Seconds: nan, Completed: -1, Failed: -1, TotalInput: -1, TotalOutput: -1,
		RequestThroughput: nan, Goodput: nan, InputThroughput: nan, OutputThroughput: nan,
		PeakOutput: nan, PeakConcurrent: -1, TotalThroughput: nan, RTFx: nan, InputRate: nan,
	}
	for _, m := range Metrics {
		m.Of(s).Quoted = NewQuote()
	}
	return s
}

// Condense lets go of what s holds of single requests and values, for one that is
// kept beside many others: 205 KB stay of each latency, its statistics, of percentiles
// those asked for and P99, and its histogram.
func (s *Summary) Condense() {
	s.Trace, s.Outcomes, s.Lastings, s.Window, s.Slices = nil, nil, nil, nil, nil
	percentiles := append(slices.Clone(s.Header.Config.Percentiles), 99)
	for _, d := range s.latencies(s.Truth) {
		d.condense(percentiles)
	}
}

// Reached are the RateChanges that came about before the run ended.
func (s *Summary) Reached() []RateChange {
	if s.Header.Epoch.IsZero() {
		// A result file tells only of those, and its date may lack the last second's fraction.
		return s.RateChanges
	}
	return slices.DeleteFunc(slices.Clone(s.RateChanges), func(c RateChange) bool { return c.At.After(s.Date) })
}

// A Metric names one Distribution of a Summary as vLLM's flags and files do.
type Metric struct {
	Name string // as in --percentile-metrics and in the keys of result files
	Of   func(*Summary) *Distribution
}

// Metrics are the metrics that vLLM reports, in the order in which it does.
var Metrics = []Metric{
	{"ttft", func(s *Summary) *Distribution { return &s.TTFT }},
	{"tpot", func(s *Summary) *Distribution { return &s.TPOT }},
	{"itl", func(s *Summary) *Distribution { return &s.ITL }},
	{"e2el", func(s *Summary) *Distribution { return &s.E2EL }},
	{"client_queue_time", func(s *Summary) *Distribution { return &s.Queue }},
	{"e2el_including_client_queue", func(s *Summary) *Distribution { return &s.QueuedE2EL }},
}

// FromContent is TTFT up to the first content, or TPOT from there on, by their names
// in Metrics: what a user sees, where vLLM's take an empty chunk for a token. It is nil
// for other metrics, and where that is not known of 99 in 100 completed requests.
func (s *Summary) FromContent(metric string) *Distribution {
	if s.Truth == nil {
		return nil
	}
	d := map[string]*Distribution{"ttft": &s.Truth.ContentTTFT, "tpot": &s.Truth.ContentTPOT}[metric]
	if d == nil || d.Len() == 0 || d.Len()*100 < s.Metric(metric).Len()*99 {
		return nil
	}
	return d
}

// Decisive is the latency by which a decision is made, and in words from or to where
// where that is not the metric as vLLM has it: FromContent where it is known.
func (s *Summary) Decisive(metric string) (d *Distribution, words string) {
	d = s.Metric(metric)
	content := s.FromContent(metric)
	const rounding = 1e-6 // of single values to nanoseconds
	if content == nil || math.Abs(content.Mean()-d.Mean()) <= rounding*d.Mean() {
		return d, ""
	}
	return content, map[string]string{"ttft": "to the first content", "tpot": "from the first content"}[metric]
}

// Metric is the distribution of the metric of that name, nil for an unknown one.
func (s *Summary) Metric(name string) *Distribution {
	i := slices.IndexFunc(Metrics, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return Metrics[i].Of(s)
}
