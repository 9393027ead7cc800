package brief

import (
	"math"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/adapters"
	"github.com/servebench/servebench/metrics/stats"
)

// Beyond is how many samples of the run are beyond the percentile, NaN if unknown. It is infinite if
// the number is not a percentile, and for the least and the largest value, which are exact.
func (r *Run) Beyond(n *metrics.Number) float64 {
	if n.Percentile <= 0 || n.Percentile >= 100 {
		return math.Inf(1)
	}
	samples := r.samples(n.Latency)
	if samples <= 0 {
		return math.NaN()
	}
	return stats.TailSize{Metric: n.Latency, Percentile: n.Percentile, N: samples}.Beyond()
}

// samples is how many samples of a latency a run has; if it does not say, the most that it can
// have: one for each completed request, and for ITL one before each of its tokens but the first.
// Of job times and adapters it is 0 then.
func (r *Run) samples(latency string) int {
	switch n := r.Values[latency]; {
	case n > 0 || latency == "job" || strings.Contains(latency, "/"):
		return n
	case latency == "itl":
		return r.Output - max(r.Completed, 0)
	}
	return r.Completed
}

// A Percentile names one that Distribution.Resampled knows.
type Percentile struct {
	Number      string // its name in numbers.All, or of an extra one
	FromContent bool   // it counts from the first content on
}

// resample keeps a percentile of the requests of a run, and one from the first content on.
func (r *Run) resample(s *metrics.Summary, m *metrics.Number) {
	if m.Percentile <= 0 || m.Percentile >= 100 {
		return
	}
	for fromContent, d := range map[bool]*metrics.Distribution{false: m.Distribution(s),
		true: s.FromContent(m.Latency)} {
		if d == nil {
			continue
		}
		if v := d.Resampled(m.Percentile); v > 0 {
			r.Source.Resampled[Percentile{m.Name, fromContent}] = v
		}
	}
}

// content are the known numbers of TTFT and TPOT from the first content on, nil for
// none.
func content(s *metrics.Summary, all []metrics.Number) map[string]float64 {
	var found map[string]float64
	for _, m := range all {
		if d := s.FromContent(m.Latency); d != nil {
			if found == nil {
				found = map[string]float64{}
			}
			found[m.Name] = m.Statistic(d)
		}
	}
	return found
}

// adapterLatencies are the names of the latencies of a run's adapters.
func adapterLatencies(s *metrics.Summary) (names []string) {
	for _, a := range adapters.Of(s) {
		for _, latency := range []string{"ttft", "tpot", "e2el"} {
			names = append(names, a.Name+"/"+latency)
		}
	}
	return names
}
