package metrics

import (
	"fmt"
	"maps"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// streamVersion is the version of the record stream written and read here.
const streamVersion = 1

// Kinds of lines of a record stream. Readers skip those they do not know.
const (
	kindRun    = "run"
	kindReq    = "req"
	kindSample = "sample"
	kindMore   = "more"
	kindEnd    = "end"
)

// A lineHead opens each line of a stream.
type lineHead struct {
	V     int    `json:"v"`
	Kind  string `json:"k"`
	Run   string `json:"run"`
	Shard int    `json:"s,omitempty"`
}

type runLine struct {
	lineHead
	*Header
}

type reqLine struct {
	lineHead
	*Record
}

type sampleLine struct {
	lineHead
	*Sample
}

type endLine struct {
	lineHead
	*End
}

// A partLine holds a piece of a line that would have been too long: the first
// under that line's own kind, the others under "more".
type partLine struct {
	lineHead
	Message int    `json:"m"`    // which long line of its writer
	Part    int    `json:"p"`    // which piece of it, from 0
	Parts   int    `json:"of"`   // how many pieces there are
	Text    string `json:"json"` // the piece
}

// An End closes a run's stream: what cannot be reckoned from its records.
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
	Evidence    *Evidence    `json:"evidence,omitempty"` // nil where nobody looked, as in older streams

	// Tokens and PeakTokens are those of the Truth, for streams without single
	// chunk times; they are not in older ones.
	Tokens     *ChunkTokens `json:"tokens,omitempty"`
	PeakTokens int          `json:"peak_tokens,omitempty"`

	// Totals are there in a compact stream alone, and its Histograms are of all
	// latencies of the Truth, too.
	Totals *Totals `json:"totals,omitempty"`

	// Histograms are those of the metrics, of lag, of age and of the ITL per
	// token, in nanoseconds: HDR, V2 compressed, base64.
	Histograms map[string]string `json:"histograms,omitempty"`
}

// Names under which histograms are kept beside those of the Metrics.
const (
	lagHistogram      = "lag"
	ageHistogram      = "age"
	tokenITLHistogram = "token_itl"

	ofTruth = "_truth" // ends the names of those that only Totals go with
)

// latencies are the Distributions of s and of its Truth, by the names of their
// histograms.
func (s *Summary) latencies(t *Truth) map[string]*Distribution {
	all := map[string]*Distribution{lagHistogram: &s.Lag}
	for _, m := range Metrics {
		all[m.Name] = m.Of(s)
	}
	if t != nil {
		all[tokenITLHistogram] = &t.ITL
		all["content_ttft"+ofTruth], all["content_tpot"+ofTruth] = &t.ContentTTFT, &t.ContentTPOT
		all["written_ttft"+ofTruth] = &t.WrittenTTFT
		all["scheduled_ttft"+ofTruth], all["scheduled_e2el"+ofTruth] = &t.ScheduledTTFT, &t.ScheduledE2EL
	}
	return all
}

// end is what a stream keeps of s.
func (s *Summary) end() (*End, error) {
	e := &End{
		Seconds: s.Seconds, Completed: s.Completed, Failed: s.Failed, Interrupted: s.Interrupted, StoppedBy: s.StoppedBy,
		SpecDecode: s.SpecDecode, Diffusion: s.Diffusion, Probes: s.Probes,
		RateChanges: s.Reached(), Warnings: s.Warnings, Evidence: s.Evidence, Histograms: map[string]string{},
	}
	kept := s.latencies(s.Truth)
	kept[ageHistogram] = &s.Age
	if t := s.Truth; t != nil {
		e.Tokens, e.PeakTokens = &t.Tokens, t.PeakTokens
	}
	if e.Totals = s.totals; e.Totals == nil {
		// Records have the others.
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

// histogram decodes one of e's histograms, nil when there is none.
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
