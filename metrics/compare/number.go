package compare

import (
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stats"
)

// values are the values of a number in all runs, nil if one has none.
func values(n *metrics.Number, runs []*Run) []float64 {
	var values []float64
	for _, r := range runs {
		v, known := r.Numbers[n.Name]
		if !known {
			return nil
		}
		values = append(values, v)
	}
	return values
}

// fewest is the smallest expected number of samples beyond the percentile in any run. It is NaN if it
// is unknown for a run.
func fewest(n *metrics.Number, sides ...[]*Run) float64 {
	least := math.Inf(1)
	for _, r := range slices.Concat(sides...) {
		least = min(least, r.beyond(n))
	}
	return least
}

// fewSamples is an expected number of samples in words, rounded down.
func fewSamples(n float64) string {
	if n < 1 {
		return "fewer than 1 sample"
	}
	return "only " + metrics.Counted(int(n), "sample")
}

// beyond is how many samples of the run are beyond the percentile, NaN if unknown. It is infinite if
// the number is not a percentile, and for the least and the largest value, which are exact.
func (r *Run) beyond(n *metrics.Number) float64 {
	if n.Percentile <= 0 || n.Percentile >= 100 {
		return math.Inf(1)
	}
	samples := r.samples(n.Latency)
	if samples <= 0 {
		return math.NaN()
	}
	return stats.TailSize{Metric: n.Latency, Percentile: n.Percentile, N: samples}.Beyond()
}

// side is where the samples beyond the percentile are.
func side(n *metrics.Number) string {
	if n.Percentile < 50 {
		return "below"
	}
	return "above"
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
