package metrics

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/samples"
)

// An End closes a run's stream. It has what the records do not.
type End struct {
	Seconds     float64             `json:"seconds"`                // duration of the measured part
	Completed   int                 `json:"completed"`              // number of completed requests
	Failed      int                 `json:"failed"`                 // number of failed requests
	Interrupted bool                `json:"interrupted,omitempty"`  // true if the run was stopped
	StoppedBy   string              `json:"stopped_by,omitempty"`   // what did, unless an interrupt
	SpecDecode  *samples.SpecDecode `json:"spec_decode,omitempty"`  // speculative decoding
	Diffusion   *samples.Diffusion  `json:"diffusion,omitempty"`    // diffusion decoding
	Probes      *Probes             `json:"probes,omitempty"`       // latencies of probe requests
	RateChanges []RateChange        `json:"rate_changes,omitempty"` // when a ramp changed the rate
	Warnings    []string            `json:"warnings,omitempty"`     // printed warnings
	Evidence    *evidence.Evidence  `json:"evidence,omitempty"`     // what the client noticed

	// Aspects are counts of aspects by their names, for streams without single chunk times.
	Aspects map[string]json.RawMessage `json:"aspects,omitempty"`

	// Histograms are the histograms of the metrics, of lag, of age and of aspects, in nanoseconds: HDR, V2
	// compressed, base64.
	Histograms map[string]string `json:"histograms,omitempty"`
}

// Names of the histograms other than the Metrics'.
const (
	lagHistogram = "lag"
	ageHistogram = "age"
)

// latencies are the Distributions of s by the names of their histograms.
func (s *Summary) latencies() map[string]*Distribution {
	all := map[string]*Distribution{lagHistogram: &s.Client.Lag}
	for _, m := range Metrics {
		all[m.Name] = m.Of(s)
	}
	return all
}

// End is the end line of a stream of s.
func (s *Summary) End() (*End, error) {
	e := &End{
		Seconds: s.When.Seconds, Completed: s.Completed, Failed: s.Failed,
		Interrupted: s.Ending.Interrupted, StoppedBy: s.Ending.StoppedBy,
		SpecDecode: s.Printed.SpecDecode, Diffusion: s.Printed.Diffusion, Probes: s.Printed.Probes,
		RateChanges: s.Reached(), Warnings: s.Ending.Warnings, Evidence: s.Evidence, Histograms: map[string]string{},
	}
	kept := s.latencies()
	kept[ageHistogram] = &s.Client.Age
	if err := s.views.end(e, kept); err != nil {
		return nil, err
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
	s.Ending.Interrupted = s.Ending.Interrupted || e.Interrupted
	s.Ending.StoppedBy = cmp.Or(s.Ending.StoppedBy, e.StoppedBy)
	// The server's counters are of all shards' traffic: one shard's counters are enough.
	s.Printed.SpecDecode = cmp.Or(s.Printed.SpecDecode, e.SpecDecode)
	s.Printed.Diffusion = cmp.Or(s.Printed.Diffusion, e.Diffusion)
	s.Printed.Probes = s.Printed.Probes.Merge(e.Probes)
	for _, rise := range e.RateChanges {
		// Each shard has all changes of the run.
		if !slices.ContainsFunc(s.Printed.RateChanges, func(c RateChange) bool { return c.RPS == rise.RPS }) {
			s.Printed.RateChanges = append(s.Printed.RateChanges, rise)
		}
	}
	for _, w := range e.Warnings {
		if !slices.Contains(s.Ending.Warnings, w) {
			s.Ending.Warn(w)
		}
	}
	switch {
	case e.Evidence == nil:
		s.Source.Unwatched++
	case s.Evidence == nil:
		whole := *e.Evidence
		s.Evidence = &whole
	default:
		s.Evidence.Add(e.Evidence, sameMachine)
	}
	ages, err := e.histogram(ageHistogram)
	if ages != nil {
		s.Client.Age.adopt(ages)
	}
	return err
}

// AdoptGaps takes the gaps between chunks from an end line, for records that only have their first
// and their last chunk. same says that the run counted chunks by the Definitions of c. It reports
// whether ITL is then known.
func (c *Collector) AdoptGaps(e *End, same bool) (known bool, err error) {
	h, err := e.histogram("itl")
	if err != nil {
		return false, err
	}
	if known = same && h != nil; known {
		c.timeline.Fold(c.sum.ITL.exact.values)
		c.sum.ITL.adopt(h)
	}
	return known, c.views.adopt(e, c.header, known)
}

// Merge adds the contents of another Collector, whose clock began that much later. Its values come
// after c's. The other must not be used afterwards.
func (c *Collector) Merge(other *Collector, later time.Duration) {
	c.mergeTimeline(other, later)
	others := other.sum.latencies()
	for name, d := range c.sum.latencies() {
		d.Merge(others[name])
	}
	c.witness.merge(&other.witness, later, c.requestCap())
	if c.Requests() == 0 {
		c.views.limit(c.requestCap(), c.expected())
	}
	c.views.merge(other.views, later)
	c.sum.Completed += other.sum.Completed
	c.sum.Failed += other.sum.Failed
	c.sum.Totals.Input += other.sum.Totals.Input
	c.sum.Totals.Output += other.sum.Totals.Output
	c.sum.Totals.Carried.Add(&other.sum.Totals.Carried)
	c.good += other.good
	c.gapsLost += other.gapsLost
	c.refused += other.refused
	c.sum.Printed.Errors.Merge(other.sum.Printed.Errors)
	for _, e := range other.firstErrors {
		c.firstErrors.add(e)
	}
	c.Keep.merge(&other.Keep, later)
}

// mergeTimeline keeps the timeline consistent with the gaps that it shares with ITL.
func (c *Collector) mergeTimeline(other *Collector, later time.Duration) {
	gaps, others := c.sum.ITL.exact.values, other.sum.ITL.exact.values
	if c.timeline.Folded() || other.timeline.Folded() || len(gaps)+len(others) > cmp.Or(c.Cap, DefaultCap) ||
		len(c.timeline.Answers)+len(other.timeline.Answers) > c.requestCap() {
		c.timeline.Fold(gaps)
		other.timeline.Fold(others)
	}
	c.timeline.Merge(&other.timeline, later)
}
