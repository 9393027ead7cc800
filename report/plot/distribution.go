package plot

import (
	"fmt"
	"math"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// latencies are those that have charts, and the flag values of SLOs.
var latencies = []string{"ttft", "tpot", "itl", "e2el"}

// longNames are what the latencies are called in full.
var longNames = map[string]string{
	"ttft": "Time to first token", "tpot": "Time per output token", "itl": "Inter-token latency", "e2el": "End-to-end latency",
}

// Distributions are, of each latency that a run knows, the ECDF and the curve of
// percentiles, with the runs' SLOs. Each curve has some 130 points, or fewer
// where there are fewer values.
func Distributions(runs []Run) []Chart {
	var charts []Chart
	for _, metric := range latencies {
		ecdf := Chart{Name: metric + "-ecdf", Title: "ECDF of " + short(metric),
			X: Axis{Title: short(metric) + " (ms)"}, Y: Axis{Title: "Share of values at or below (%)", Max: 100}}
		curve := Chart{Name: metric + "-percentiles", Title: longNames[metric] + " by percentile",
			X: Axis{Title: "Percentile", Scale: Percentile}, Y: Axis{Title: short(metric) + " (ms)"}}
		var span extent
		fewest := math.MaxInt
		for i := range runs {
			d := runs[i].Metric(metric)
			if d.Len() == 0 {
				continue
			}
			fewest = min(fewest, d.Len())
			upright := Series{Name: seriesName(runs, i), Style: Line, Color: i}
			flat := Series{Name: upright.Name, Style: Line, Color: i}
			for _, p := range percents(d.Len()) {
				v := d.Percentile(p)
				span.add(v)
				upright.add(v, p)
				if p < 100 {
					flat.add(-math.Log10(1-p/100), v)
				}
			}
			ecdf.Series, curve.Series = append(ecdf.Series, upright), append(curve.Series, flat)
		}
		if len(ecdf.Series) == 0 {
			continue
		}
		ecdf.X.Scale, curve.Y.Scale = span.scale(requestSpan), span.scale(requestSpan)
		ecdf.Limits, curve.Limits = limits(runs, metric, true), limits(runs, metric, false)
		curve.Note = rest(fewest)
		ecdf.fit(true)
		curve.fit(false)
		charts = append(charts, ecdf, curve)
	}
	return charts
}

// rest says from where on a curve of n values rests on few.
func rest(n int) string {
	const few = metrics.MinBeyond
	if n <= few {
		return fmt.Sprintf("There are only %d values.", n)
	}
	digits := max(0, int(math.Ceil(math.Log10(float64(n))))-2)
	return fmt.Sprintf("Beyond P%.*f there are fewer than %d values.", digits, 100*(1-few/float64(n)), few)
}

// percents are where a distribution of n values is looked at: at each percent,
// and beyond 90 in tenths of a decade up to the largest value that is not the
// maximum.
func percents(n int) []float64 {
	var all []float64
	step := max(1, 100/n)
	for p := 0; p <= 90; p += step {
		all = append(all, float64(p))
	}
	for tenth := 11; ; tenth++ {
		beyond := math.Pow(10, -float64(tenth)/10)
		if beyond*float64(n) < 1 {
			break
		}
		all = append(all, 100*(1-beyond))
	}
	return append(all, 100)
}

// limits are the SLOs of a latency that the runs have, each once.
func limits(runs []Run, metric string, across bool) []Limit {
	var all []Limit
	seen := map[metrics.SLO]bool{}
	for i := range runs {
		for _, slo := range runs[i].slo(metric) {
			if !seen[slo] {
				seen[slo] = true
				all = append(all, Limit{"SLO " + metrics.FormatPercentile(slo.Limit) + " ms", slo.Limit, across})
			}
		}
	}
	return all
}

func short(metric string) string { return strings.ToUpper(metric) }

// seriesName is that of a run's line where each run has one.
func seriesName(runs []Run, i int) string {
	if len(runs) == 1 {
		return "this run"
	}
	return runs[i].Name()
}
