package plot

import (
	"slices"

	"github.com/servebench/servebench/metrics/numpy"
)

// Lengths is the chart of the prompts and outputs of a run: ECDFs of the tokens of completed
// requests. It has no Series if the run has no Trace or no request completed.
func Lengths(r Run) Chart {
	c := ecdf("lengths", "ECDF of lengths", "Length (tokens)", "requests")
	var span extent
	n := max(r.Summary.Completed, 0)
	prompts, outputs := make([]float64, 0, n), make([]float64, 0, n)
	for rec := range completed(r) {
		prompts, outputs = append(prompts, float64(rec.Tokens.In)), append(outputs, float64(rec.Tokens.Out))
	}
	for color, values := range [][]float64{prompts, outputs} {
		if len(values) == 0 {
			continue
		}
		span.add(values...)
		slices.Sort(values)
		c.Series = append(c.Series, rising([]string{"prompt", "output"}[color], color, len(values),
			func(p float64) float64 { return numpy.Percentile(values, p) }))
	}
	c.X.Scale = span.scale(runSpan)
	c.fit(true)
	return c
}
