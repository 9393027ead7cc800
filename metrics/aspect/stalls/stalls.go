// Package stalls is how long the answers of a run stood still: the longest ITL of each request. A user remembers
// that one, and the P99 of all ITLs hides it, since an answer of many tokens has one stall.
package stalls

import (
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// Stalls are of completed requests whose answers came in two chunks or more, if their times are known.
type Stalls struct {
	Longest metrics.Distribution // of the ITLs of a request
}

// Kind is the aspect as the list has it.
var Kind = &metrics.Kind{
	Name:    "stalls",
	New:     func(*metrics.Header) metrics.Aspect { return &Stalls{metrics.PerRequest()} },
	Numbers: latency.Numbers,
}

// latency is the longest ITL of a request.
var latency = metrics.Latency{
	Name: "max_itl", Label: "max ITL", Long: "Longest stall", About: "the longest ITL of a request",
	Of: func(s *metrics.Summary) *metrics.Distribution { return &metrics.View[Stalls](s).Longest },
}

// Add adds a request.
func (s *Stalls) Add(r *record.Record) {
	chunks := &r.Answer.Chunks
	if !r.Answered() || r.Answer.Unstreamed || chunks.Len() < 2 || chunks.Gapless() {
		return
	}
	longest := time.Duration(0)
	for gap := range chunks.Gaps() {
		longest = max(longest, gap)
	}
	s.Longest.Add(longest.Seconds())
}

// Merge adds another shard's requests.
func (s *Stalls) Merge(o metrics.Aspect) { s.Longest.Merge(&o.(*Stalls).Longest) }

// Distributions are settled and condensed with the Summary's.
func (s *Stalls) Distributions() []*metrics.Distribution { return []*metrics.Distribution{&s.Longest} }
