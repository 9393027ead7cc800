package metrics

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// An End closes a run's stream. It has what the records do not.
type End struct {
	Seconds     float64      `json:"seconds"` // duration of the measured part
	Completed   int          `json:"completed"`
	Failed      int          `json:"failed"`
	Interrupted bool         `json:"interrupted,omitempty"`
	StoppedBy   string       `json:"stopped_by,omitempty"` // by what, unless it was an interrupt
	SpecDecode  *SpecDecode  `json:"spec_decode,omitempty"`
	Diffusion   *Diffusion   `json:"diffusion,omitempty"`
	Probes      *Probes      `json:"probes,omitempty"`
	RateChanges []RateChange `json:"rate_changes,omitempty"`
	Warnings    []string     `json:"warnings,omitempty"`
	Evidence    *Evidence    `json:"evidence,omitempty"` // nil if nothing watched

	// Tokens and PeakTokens are the Truth's, for streams without single chunk times; older streams
	// do not have them.
	Tokens     *ChunkTokens `json:"tokens,omitempty"`
	PeakTokens int          `json:"peak_tokens,omitempty"`
	// Late counts the marked chunks, nil if there are none.
	Late *LateStamps `json:"late,omitempty"`

	// Totals are only in a compact stream, whose Histograms also have all latencies of the Truth.
	Totals *totals `json:"totals,omitempty"`

	// Histograms are the histograms of the metrics, of lag, of age and of the ITL per token, in
	// nanoseconds: HDR, V2 compressed, base64.
	Histograms map[string]string `json:"histograms,omitempty"`
}

// Names of the histograms other than the Metrics'.
const (
	lagHistogram      = "lag"
	ageHistogram      = "age"
	tokenITLHistogram = "token_itl"

	ofTruth = "_truth" // ends the names of those that only come with Totals
)

// latencies are the Distributions of s and of its Truth, by the names of their histograms.
func (s *Summary) latencies(t *Truth) map[string]*Distribution {
	all := map[string]*Distribution{lagHistogram: &s.Lag}
	for _, m := range Metrics {
		all[m.Name] = m.Of(s)
	}
	if t != nil {
		all[tokenITLHistogram] = &t.ITL
		maps.Copy(all, t.Late.histograms())
		all["content_ttft"+ofTruth], all["content_tpot"+ofTruth] = &t.ContentTTFT, &t.ContentTPOT
		all["ttfo"+ofTruth] = &t.TTFO
		all["written_ttft"+ofTruth], all["undelayed_ttft"+ofTruth] = &t.WrittenTTFT, &t.UndelayedTTFT
		all["scheduled_ttft"+ofTruth], all["scheduled_e2el"+ofTruth] = &t.ScheduledTTFT, &t.ScheduledE2EL
	}
	return all
}

// End is the end line of a stream of s.
func (s *Summary) End() (*End, error) {
	e := &End{
		Seconds: s.Seconds, Completed: s.Completed, Failed: s.Failed, Interrupted: s.Interrupted, StoppedBy: s.StoppedBy,
		SpecDecode: s.SpecDecode, Diffusion: s.Diffusion, Probes: s.Probes,
		RateChanges: s.Reached(), Warnings: s.Warnings, Evidence: s.Evidence, Histograms: map[string]string{},
	}
	kept := s.latencies(s.Truth)
	kept[ageHistogram] = &s.Age
	if t := s.Truth; t != nil {
		e.Tokens, e.PeakTokens = &t.Tokens, t.PeakTokens
		if t.Late.Chunks > 0 {
			e.Late = &t.Late
		}
	}
	if e.Totals = s.totals; e.Totals == nil {
		// The records have the others.
		maps.DeleteFunc(kept, func(name string, _ *Distribution) bool { return strings.HasSuffix(name, ofTruth) })
	} else {
		maps.Copy(kept, adapterLatencies(s.Adapters))
		if s.Sessions != nil {
			maps.Copy(kept, s.Sessions.latencies())
		}
	}
	for name, d := range kept {
		h := d.Histogram()
		if h == nil {
			continue
		}
		encoded, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		if err != nil {
			return nil, fmt.Errorf("encoding the histogram of %s: %w", name, err)
		}
		e.Histograms[name] = string(encoded)
	}
	return e, nil
}

// histogram decodes one of e's histograms, nil if it has no such histogram.
func (e *End) histogram(name string) (*hdrhistogram.Histogram, error) {
	encoded, ok := e.Histograms[name]
	if !ok {
		return nil, nil
	}
	h, err := hdrhistogram.Decode([]byte(encoded))
	if err != nil {
		return nil, fmt.Errorf("decoding the histogram of %s: %w", name, err)
	}
	return h, nil
}

// Include adds what an end line has and the records before it do not. sameMachine says that an
// earlier included shard ran on the same machine.
func (s *Summary) Include(e *End, sameMachine bool) error {
	s.Interrupted = s.Interrupted || e.Interrupted
	s.StoppedBy = cmp.Or(s.StoppedBy, e.StoppedBy)
	// The server's counters are of all shards' traffic: one shard's counters are enough.
	s.SpecDecode = cmp.Or(s.SpecDecode, e.SpecDecode)
	s.Diffusion = cmp.Or(s.Diffusion, e.Diffusion)
	s.Probes = s.Probes.Merge(e.Probes)
	for _, rise := range e.RateChanges {
		// Each shard has all changes of the run.
		if !slices.ContainsFunc(s.RateChanges, func(c RateChange) bool { return c.RPS == rise.RPS }) {
			s.RateChanges = append(s.RateChanges, rise)
		}
	}
	for _, w := range e.Warnings {
		if !slices.Contains(s.Warnings, w) {
			s.Warnings = append(s.Warnings, w)
		}
	}
	switch {
	case e.Evidence == nil:
		s.Unwatched++
	case s.Evidence == nil:
		whole := *e.Evidence
		s.Evidence = &whole
	default:
		s.Evidence.add(e.Evidence, sameMachine)
	}
	ages, err := e.histogram(ageHistogram)
	if ages != nil {
		s.Age.adopt(ages)
	}
	return err
}

// totals are what the end line of a compact stream has instead of requests, in addition to its
// counts and histograms. Times are on the clock of the shard.
type totals struct {
	Input   int            `json:"input"`             // prompt tokens of completed requests
	Output  int            `json:"output"`            // output tokens of completed requests
	Good    int            `json:"good"`              // requests that met the run's SLOs
	Classes map[Class]int  `json:"classes,omitempty"` // failed requests by class
	Errors  map[string]int `json:"errors,omitempty"`  // by message, only the most frequent
	First   []firstError   `json:"first_errors,omitempty"`
	Resent  Resent         `json:"resent,omitzero"`
	Carried Payload        `json:"carried,omitzero"`

	Failing       map[Class]Failing `json:"failing,omitempty"` // only the most frequent messages
	Prompts       Prompts           `json:"prompts,omitzero"`
	Lengths       Lengths           `json:"lengths,omitzero"`
	Counts        Counts            `json:"counts,omitzero"`
	Delivery      Delivery          `json:"delivery,omitzero"`
	Reasoning     Reasoning         `json:"reasoning,omitzero"`
	FinishReasons map[string]int    `json:"finish_reasons,omitempty"`
	Differing     Differing         `json:"otherwise,omitempty"`

	Pace       Pace       `json:"pace"` // without Due and Sent, which are:
	Due        *Window    `json:"due,omitempty"`
	Sent       *Window    `json:"sent,omitempty"`
	Ramp       Ramp       `json:"ramp"`
	Connecting Connecting `json:"connecting"`
	LaterTurns bool       `json:"later_turns,omitempty"`
	Waterfall  Waterfall  `json:"waterfall,omitzero"`

	// AfterFirst is the time from first to last chunks, if tokens were counted, and AfterTokens the
	// tokens in that time.
	AfterFirst  time.Duration `json:"after_first,omitempty"`
	AfterTokens float64       `json:"after_tokens,omitempty"`

	// Held is the time after last chunks, and Unread the part of it in which they may have waited
	// in the socket.
	Held   time.Duration `json:"held,omitempty"`
	Unread time.Duration `json:"unread,omitempty"`

	E2EL     time.Duration `json:"e2el,omitempty"`      // up to the last chunk
	Busy     time.Duration `json:"busy,omitempty"`      // from Sent to End, of all requests
	InFlight int           `json:"in_flight,omitempty"` // most requests at once

	Seconds *buckets   `json:"seconds,omitempty"` // chunks and requests, for vLLM's peaks
	Tokens  timeSeries `json:"tokens"`            // when they came
	Started timeSeries `json:"started"`           // requests, when they were sent
	Ended   timeSeries `json:"ended"`
	Backlog *backlog   `json:"backlog,omitempty"` // nil in older streams

	Sessions *sessionTotals `json:"sessions,omitempty"` // nil without sessions
	Adapters []Adapter      `json:"adapters,omitempty"`
}

// maxTotalled bounds the messages in Totals, and the bytes of each.
const (
	maxTotalled      = 100
	maxTotalledBytes = 500
)

// totals are the totals of what was added. They are valid until the next Add.
func (c *Collector) totals() *totals {
	w := &c.witness
	t := &totals{
		Input: c.sum.TotalInput, Output: c.sum.TotalOutput, Good: c.good, Classes: c.sum.Classes, Errors: frequent(c.sum.Errors), Resent: c.sum.Resent,
		Carried: c.sum.Carried,
		Failing: map[Class]Failing{}, Prompts: w.truth.Prompts, Lengths: w.truth.Lengths, FinishReasons: w.truth.FinishReasons, Differing: w.truth.Differing,
		Counts: w.truth.Counts, Delivery: w.truth.Delivery, Reasoning: w.truth.Reasoning,
		Pace: w.truth.Pace, Due: w.due.window(), Sent: w.sent.window(), Ramp: w.truth.Ramp, Connecting: w.truth.Connecting,
		LaterTurns: w.truth.LaterTurns, Waterfall: w.truth.Waterfall, AfterFirst: w.afterFirst, AfterTokens: w.afterTokens,
		Held: w.held, Unread: w.unread, E2EL: w.e2el, Busy: w.inFlight.busy, InFlight: w.inFlight.peak(), Tokens: w.tokens,
		Backlog: &w.backlog,
	}
	for class, f := range c.sum.Failing {
		t.Failing[class] = Failing{f.Requests, f.Statuses, frequent(f.Messages)}
	}
	for _, e := range c.firstErrors {
		t.First = append(t.First, firstError{e.Index, shortened(e.Message)})
	}
	if b := c.timeline.buckets(c.sum.ITL.exact); len(b.requests) > 0 {
		t.Seconds = b
	}
	f := w.inFlight.flights()
	t.Started, t.Ended = f.starts, f.ends
	return t
}

// frequent are the most frequent messages with their counts, and the number of other requests.
func frequent(messages map[string]int) map[string]int {
	kept := map[string]int{}
	for i, message := range ByCount(messages) {
		name := otherMessages
		if i < maxTotalled {
			name = shortened(message)
		}
		kept[name] += messages[message]
	}
	return kept
}

func shortened(message string) string {
	if len(message) <= maxTotalledBytes {
		return message
	}
	return strings.ToValidUTF8(message[:maxTotalledBytes], "") + "…"
}

// Adopt takes over the requests of an end line, which c has not seen. Without Totals, only their
// number is known. Nothing may have been added before.
func (c *Collector) Adopt(e *End) error {
	c.sum.Completed, c.sum.Failed = e.Completed, e.Failed
	for name, d := range c.sum.latencies(&c.witness.truth) {
		h, err := e.histogram(name)
		if err != nil {
			return err
		}
		*d = FromHistogram(h)
	}
	w := &c.witness
	if e.Tokens != nil {
		w.truth.Tokens = *e.Tokens
	}
	if e.Late != nil {
		w.truth.Late.Chunks, w.truth.Late.Of = e.Late.Chunks, e.Late.Of
	}
	c.timeline.fold(nil)
	if e.Totals != nil {
		c.adoptTotals(e.Totals)
		return errors.Join(c.adapters.adopt(e.Totals.Adapters, e), c.sessions.adopt(e.Totals.Sessions, e))
	}
	return nil
}

// AdoptGaps takes the gaps between chunks from an end line, for records that only have their first
// and their last chunk. same says that the run counted chunks by the Definitions of c. It reports
// whether ITL is then known.
func (c *Collector) AdoptGaps(e *End, same bool) (known bool, err error) {
	truth := &c.witness.truth
	if e.Tokens != nil {
		truth.Tokens = *e.Tokens
	}
	h, err := e.histogram(tokenITLHistogram)
	if err != nil {
		return false, err
	}
	if h != nil {
		truth.ITL.adopt(h)
	}
	if !same {
		return false, nil
	}
	h, err = e.histogram("itl")
	if h == nil || err != nil {
		return false, err
	}
	c.timeline.fold(c.sum.ITL.exact)
	c.sum.ITL.adopt(h)
	return true, truth.Late.adopt(e)
}

// adopt adds the marked chunks of an end line, for records that do not have them.
func (l *LateStamps) adopt(e *End) error {
	if e.Late == nil {
		return nil
	}
	l.Chunks += e.Late.Chunks
	for name, d := range l.histograms() {
		h, err := e.histogram(name)
		if err != nil {
			return err
		}
		if h != nil {
			d.adopt(h)
		}
	}
	return nil
}

func (c *Collector) adoptTotals(t *totals) {
	w := &c.witness
	c.sum.TotalInput, c.sum.TotalOutput, c.good, c.sum.Resent = t.Input, t.Output, t.Good, t.Resent
	c.sum.Carried = t.Carried
	maps.Copy(c.sum.Classes, t.Classes)
	maps.Copy(c.sum.Errors, t.Errors)
	for class, f := range t.Failing {
		c.failing(class).merge(&f)
	}
	c.firstErrors = t.First
	w.truth.Prompts = t.Prompts
	w.truth.Lengths, w.truth.FinishReasons, w.truth.Differing = t.Lengths, t.FinishReasons, t.Differing
	w.truth.Counts, w.truth.Delivery, w.truth.Reasoning = t.Counts, t.Delivery, t.Reasoning
	w.truth.Pace, w.truth.Ramp, w.truth.Connecting, w.truth.LaterTurns = t.Pace, t.Ramp, t.Connecting, t.LaterTurns
	w.truth.Waterfall = t.Waterfall
	w.due, w.sent = t.Due.extent(), t.Sent.extent()
	w.spaced = w.due.last > w.due.first
	w.afterFirst, w.afterTokens = t.AfterFirst, t.AfterTokens
	w.held, w.unread, w.e2el = t.Held, t.Unread, t.E2EL
	w.tokens = t.Tokens
	w.inFlight = inFlight{busy: t.Busy, folded: &flights{t.Started, t.Ended}, parts: t.InFlight}
	w.inFlight.folded.level()
	if t.Backlog.sound() {
		w.backlog = *t.Backlog
	}
	if t.Seconds != nil {
		c.timeline.folded = t.Seconds
	}
}

func (x extent) window() *Window {
	if !x.any {
		return nil
	}
	return &Window{x.first, x.last}
}

// extent is the extent from one end of w to the other; empty for nil.
func (w *Window) extent() extent {
	if w == nil {
		return extent{}
	}
	return extent{true, w.From, w.To}
}

// Merge adds the contents of another Collector, whose clock began that much later. Its values come
// after c's. The other must not be used afterwards.
func (c *Collector) Merge(other *Collector, later time.Duration) {
	c.mergeTimeline(other, later)
	others := other.sum.latencies(nil)
	for name, d := range c.sum.latencies(nil) {
		d.merge(others[name])
	}
	c.witness.merge(&other.witness, later, c.requestCap())
	asked := c.asked()
	c.sessions.merge(&other.sessions, later, &asked)
	c.adapters.merge(&other.adapters, c.requestCap())
	c.sum.Completed += other.sum.Completed
	c.sum.Failed += other.sum.Failed
	c.sum.Resent.merge(other.sum.Resent)
	c.sum.Mixed = cmp.Or(c.sum.Mixed, other.sum.Mixed)
	c.sum.Clocks = append(c.sum.Clocks, other.sum.Clocks...) // of GPUs of another machine
	c.sum.TotalInput += other.sum.TotalInput
	c.sum.TotalOutput += other.sum.TotalOutput
	c.sum.Carried.add(&other.sum.Carried)
	c.good += other.good
	c.gapsLost += other.gapsLost
	c.refused += other.refused
	for class, n := range other.sum.Classes {
		c.sum.Classes[class] += n
	}
	for class, f := range other.sum.Failing {
		c.failing(class).merge(f)
	}
	countMessages(c.sum.Errors, other.sum.Errors)
	for _, e := range other.firstErrors {
		c.addFirst(e)
	}
	for _, o := range other.sum.Outcomes {
		o.Start = moved(o.Start, later)
		c.sum.Outcomes = append(c.sum.Outcomes, o)
	}
	c.sum.Timings = append(c.sum.Timings, other.sum.Timings...)
	c.trace.merge(&other.trace, later)
	c.meter.Merge(&other.meter, later)
}

// mergeTimeline keeps the timeline consistent with the gaps that it shares with ITL.
func (c *Collector) mergeTimeline(other *Collector, later time.Duration) {
	gaps, others := c.sum.ITL.exact, other.sum.ITL.exact
	if c.timeline.folded != nil || other.timeline.folded != nil || len(gaps)+len(others) > cmp.Or(c.Cap, DefaultCap) ||
		len(c.timeline.answers)+len(other.timeline.answers) > c.requestCap() {
		c.timeline.fold(gaps)
		other.timeline.fold(others)
	}
	c.timeline.merge(&other.timeline, later)
}
