package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
	"github.com/servebench/servebench/metrics/tally"
)

// RequestCap is the default number of requests that a Collector keeps exactly: 130 MB of them. With
// ten times as many, moving the slices that hold them takes a second or more.
const RequestCap = 1_000_000

// A Collector turns Records into a Summary. It keeps about eight bytes for each chunk, up to ten
// million of them, and 130 for each request, up to a million: 210 MB. Beyond either limit its size
// stays as it is, and the latencies above the limit become approximate. However long the run, the
// time series of the Truth take at most 48 MiB. Outcomes and the Trace come on top, within Keep.Most.
// Only one goroutine may use it.
type Collector struct {
	Keep Keep
	Cap  int // exact values kept of each latency; 0 means the limits above

	header      *Header
	sum         Summary // counts and distributions so far
	good        int
	timeline    tally.Timeline
	witness     witness
	views       views // see View
	noTruth     bool  // AddOutcome was called: the Truth is unknown
	gapsLost    int   // completed requests with unknown single chunk times
	refused     int   // requests whose times are impossible
	firstErrors firstErrors
	scratch     []float64
}

// NewCollector makes a Collector for a run, with the Aspects of some kinds. It keeps the header and does not
// change it.
func NewCollector(h *Header, kinds ...*Kind) *Collector {
	return &Collector{
		header: h, views: newViews(h, kinds), sum: Summary{Header: h, Printed: Printed{Errors: tally.Messages{}}},
	}
}

// Add adds a record by the header's Definitions, unless it is of the warm-up. It does not keep
// the record. A request whose answer came before it was sent counts as failed.
func (c *Collector) Add(r *record.Record) {
	if c.Requests() == 0 {
		c.views.limit(c.requestCap(), c.expected())
	}
	r, possible := c.header.Counted(r).Possible()
	if !possible && r.Phase != record.WarmUp {
		c.refused++
	}
	c.Keep.record(r)
	if r.Phase == record.WarmUp {
		c.views.addWarmUp(r)
		return
	}
	o := outcomeOf(r, c.scratch[:0])
	c.scratch = o.ITL
	if r.Phase == record.Main {
		c.put(&c.sum.Client.Lag, r.Lag().Seconds())
	}
	gone := 0
	if r.Answer.Chunks.Gapless() {
		gone = r.Answer.Chunks.Len() - 1
	}
	c.addOutcome(o, gone)
	c.witness.expected = c.expected()
	c.witness.add(r, c.requestCap())
	for _, v := range c.views {
		v.Add(r)
	}
}

// AddSample adds a sample, and keeps it in the Trace, if there is a Trace. Samples of one URL must
// come in order.
func (c *Collector) AddSample(s *samples.Sample) {
	c.views.addSample(s)
	c.Keep.sample(s)
}

// Requests is the number of measured requests that were added.
func (c *Collector) Requests() int { return c.sum.Completed + c.sum.Failed }

// Gapless reports that ITL lacks the gaps of some completed request, because only its first and its
// last chunk are known.
func (c *Collector) Gapless() bool { return c.gapsLost > 0 }

// AddOutcome adds a request that was measured elsewhere. It does not keep o.ITL. The Summary then
// has no Truth, which needs Records.
func (c *Collector) AddOutcome(o Outcome) {
	c.noTruth = true
	c.addOutcome(o, 0)
}

// AddTimings adds requests of which only their Timing is known. It takes the latencies of those
// that completed, if the failed ones can be recognised by having none.
func (c *Collector) AddTimings(timings []Timing, completed int) {
	timings = slices.DeleteFunc(slices.Clone(timings), func(l Timing) bool { return l.Latency <= 0 })
	if len(timings) != completed {
		return
	}
	for _, l := range timings {
		c.putE2EL(l.Latency, l.Queue)
	}
}

// putE2EL adds a latency of a completed request, and its wait for a slot if that is known.
func (c *Collector) putE2EL(latency, queue float64) {
	c.put(&c.sum.E2EL, latency)
	if !math.IsNaN(queue) {
		c.put(&c.sum.Client.Queue, queue)
		c.put(&c.sum.Client.QueuedE2EL, queue+latency)
	}
}

// addOutcome counts o. gone is the number of its gaps that are no longer known.
func (c *Collector) addOutcome(o Outcome, gone int) {
	c.Keep.outcome(o)
	if !o.Success {
		c.fail(o)
		return
	}
	c.complete(&o)
	c.sum.Totals.Output += o.Out
	c.putE2EL(o.Latency, o.Queue)
	if !o.Unstreamed {
		c.put(&c.sum.TTFT, o.TTFT)
	}
	if !o.Unstreamed && o.Out > 1 {
		c.put(&c.sum.TPOT, o.TPOT())
	}
	c.addAnswer(&o, gone)
}

// complete counts a completed request without its output.
func (c *Collector) complete(o *Outcome) {
	c.sum.Completed++
	c.sum.Totals.Input += o.In
	c.sum.Totals.Carried.Add(o.Carried)
	if good(o, c.header.Config.Goodput) {
		c.good++
	}
}

// addAnswer keeps what the peaks need, together with the gaps that they share with ITL.
func (c *Collector) addAnswer(o *Outcome, gone int) {
	itl := &c.sum.ITL
	if c.Cap > 0 {
		itl.limit = c.Cap
	}
	if len(itl.exact.values)+len(o.ITL) > cmp.Or(itl.limit, DefaultCap) || len(c.timeline.Answers) >= c.requestCap() {
		c.timeline.Fold(itl.exact.values)
	}
	s := tally.Answer{Start: o.Start, TTFT: o.TTFT, Latency: o.Latency, Gaps: int32(len(o.ITL))}
	if gone > 0 {
		s.Gaps, s.Even = int32(gone), true
		c.gapsLost++
	}
	c.timeline.Expect(c.expected())
	c.timeline.Add(s, o.ITL)
	for _, gap := range o.ITL {
		itl.Add(gap)
	}
}

func (c *Collector) put(d *Distribution, seconds float64) {
	d.limit, d.expected = c.requestCap(), c.expected()
	d.Add(seconds)
}

func (c *Collector) requestCap() int { return cmp.Or(c.Cap, RequestCap) }

// expected is how many requests to make room for: growing the slices that hold them would copy them
// ten times, and all slices in the same request.
func (c *Collector) expected() int {
	return min(max(c.header.Config.NumPrompts, 0)/max(c.header.Shards, 1), c.requestCap())
}

// Summary sums up what was added, for a run that has taken so many seconds. It shares histograms
// and maps with the Collector, so it is valid until the next Add.
func (c *Collector) Summary(seconds float64) *Summary {
	s := c.sum
	s.When.Seconds, s.When.Began = seconds, c.header.Began()
	s.ITL.exact.gaps, s.ITL.exact.ends = true, c.timeline.Ends()
	if !c.header.Epoch.IsZero() {
		s.When.Date = c.header.Epoch.Add(c.header.Began() + time.Duration(seconds*float64(time.Second)))
	}
	s.Rates.Requests = Rate(float64(s.Completed), seconds)
	s.Rates.Input = Rate(float64(s.Totals.Input), seconds)
	s.Rates.Output = Rate(float64(s.Totals.Output), seconds)
	s.Rates.Total = Rate(float64(s.Totals.Input+s.Totals.Output), seconds)
	if s.Totals.Carried.Audio > 0 && c.header.Config.Traits.Spoken {
		s.Rates.RTFx = Rate(s.Totals.Carried.Audio, seconds)
	}
	s.Rates.Goodput = math.NaN()
	if c.header.Config.LimitsRequests() {
		s.Rates.Goodput = Rate(float64(c.good), seconds)
	}
	chunks, requests := c.timeline.Peaks(s.ITL.exact.values)
	s.Rates.PeakOutput, s.Rates.PeakConcurrent = float64(chunks), requests
	if !c.noTruth {
		s.Truth = c.witness.result(seconds)
		s.Truth.Course = c.witness.course(&c.header.Config, c.timeline.Answers)
		s.views = c.views.sum(seconds)
	}
	c.witness.inOnePiece(&s)
	s.pooled()
	s.Kept = c.Keep.kept()
	for _, e := range c.firstErrors {
		s.Printed.FirstErrors = append(s.Printed.FirstErrors, e.Message)
	}
	s.Ending.Warnings = c.warnings()
	return &s
}

func (c *Collector) warnings() []string {
	w := append(c.Keep.shedding(), c.refusals()...)
	var approximate []string
	for _, m := range Metrics {
		d := m.Of(&c.sum)
		if !d.Approximate() {
			continue
		}
		approximate = append(approximate, m.Name)
		if d.clamped > 0 {
			w = append(w, fmt.Sprintf("%s has %s outside 0 to 8 h, counted at the nearest end", m.Name,
				Counted(d.clamped, "value")))
		}
	}
	if c.timeline.Folded() || c.gapsLost > 0 {
		approximate = append(approximate, "peak output token throughput", "peak concurrent requests")
	}
	if approximate != nil {
		w = append(w, "approximate, because histograms with three digits were kept and not all values: "+
			strings.Join(approximate, ", "))
	}
	return w
}

// Rate is n a second, in so many seconds; NaN if they are none.
func Rate(n, seconds float64) float64 {
	if seconds <= 0 {
		return math.NaN()
	}
	return n / seconds
}

// refusals is the warning about requests with impossible times.
func (c *Collector) refusals() []string {
	if c.refused == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s counted as failed: the answer is stamped before the request was sent, so TTFT "+
		"would be negative",
		Counted(c.refused, "request"))}
}
