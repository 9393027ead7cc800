package plot

import (
	"slices"

	"github.com/servebench/servebench/metrics"
)

// Lengths is the chart of the prompts and outputs of a run. It has no Series where
// the run has no Trace or no request completed.
func Lengths(r Run) Chart { return lengths(r.measured()) }

// lengths has the ECDFs of the tokens of completed requests.
func lengths(records []*metrics.Record) Chart {
	c := Chart{Name: "lengths", Title: "ECDF of lengths", X: Axis{Title: "Length (tokens)"}, Y: Axis{Title: "Share of requests at or below (%)", Max: 100}}
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
				span.add(float64(part.of(r)))
			}
		}
		if len(values) == 0 {
			continue
		}
		slices.Sort(values)
		s := Series{Name: part.name, Style: Line, Color: color}
		for _, p := range percents(len(values)) {
			s.add(metrics.Percentile(values, p), p)
		}
		c.Series = append(c.Series, s)
	}
	c.X.Scale = span.scale(runSpan)
	c.fit(true)
	return c
}
