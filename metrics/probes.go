package metrics

import (
	"cmp"
)

// Probes sums up the single-token requests sent during the load.
type Probes struct {
	Completed int     `json:"completed"`
	Failed    int     `json:"failed"`
	Median    float64 `json:"median_e2el_ms"`
	P99       float64 `json:"p99_e2el_ms"`
	Max       float64 `json:"max_e2el_ms"`
}

// Merge adds the probes of another shard. It keeps the larger of two medians or percentiles, since
// the combined value is unknown.
func (p *Probes) Merge(other *Probes) *Probes {
	if p == nil || other == nil {
		return cmp.Or(p, other)
	}
	return &Probes{
		Completed: p.Completed + other.Completed,
		Failed:    p.Failed + other.Failed,
		Median:    max(p.Median, other.Median),
		P99:       max(p.P99, other.P99),
		Max:       max(p.Max, other.Max),
	}
}
