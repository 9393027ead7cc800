package compare

import (
	"math"
	"slices"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/brief"
)

// values are the values of a number in all runs, nil if one has none.
func values(n *metrics.Number, runs []*brief.Run) []float64 {
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
func fewest(n *metrics.Number, sides ...[]*brief.Run) float64 {
	least := math.Inf(1)
	for _, r := range slices.Concat(sides...) {
		least = min(least, r.Beyond(n))
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

// side is where the samples beyond the percentile are.
func side(n *metrics.Number) string {
	if n.Percentile < 50 {
		return "below"
	}
	return "above"
}
