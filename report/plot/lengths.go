package plot

import (
	"slices"

	"github.com/servebench/servebench/metrics"
)

// Lengths is the chart of the prompts and outputs of a run. It has no Series if the run has no
// Trace or no request completed.
func Lengths(r Run) Chart { return lengths(r.measured()) }

// lengths has the ECDFs of the tokens of completed requests.
func lengths(records []*metrics.Record) Chart {
	c := ecdf("lengths", "ECDF of lengths", "Length (tokens)", "requests")
	var span extent
	for color, part := range []struct {
		name string
		of   func(*metrics.Record) int
	}{
		{"prompt", func(r *metrics.Record) int { return r.In }},
		{"output", func(r *metrics.Record) int { return r.Out }},
	} {
		var values []float64
		for _, r := range records {
			if r.Class == metrics.OK {
				values = append(values, float64(part.of(r)))
			}
		}
		if len(values) == 0 {
			continue
		}
		span.add(values...)
		slices.Sort(values)
		c.Series = append(c.Series, rising(part.name, color, len(values), func(p float64) float64 { return metrics.Percentile(values, p) }))
	}
	c.X.Scale = span.scale(runSpan)
	c.fit(true)
	return c
}
