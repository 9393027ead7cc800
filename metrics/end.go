package metrics

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

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

	// Of the gaps next to marked chunks, and of their bounds.
	lateITLHistogram, leastITLHistogram, mostITLHistogram = "late_itl", "late_itl_least", "late_itl_most"

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
		all[lateITLHistogram], all[leastITLHistogram], all[mostITLHistogram] = &t.Late.gaps, &t.Late.least, &t.Late.most
		all["content_ttft"+ofTruth], all["content_tpot"+ofTruth] = &t.ContentTTFT, &t.ContentTPOT
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
