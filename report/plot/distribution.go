package plot

import (
	"fmt"
	"math"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stats"
)

// latencies are the latencies with charts, as flags name them in SLOs.
var latencies = []string{"ttft", "tpot", "itl", "e2el"}

// distributions are the ECDF and the percentile curve of each latency that a run knows,
// with the runs' SLOs. A curve has at most some 130 points.
func distributions(runs []Run) []Chart {
	var charts []Chart
	colors := colors(runs)
	for _, metric := range latencies {
		latency, _ := metrics.LatencyNamed(metric)
		title := latency.Label
		shares := ecdf(metric+"-ecdf", "ECDF of "+title, title+" (ms)", "values")
		curve := Chart{Name: metric + "-percentiles", Title: latency.Long + " by percentile",
			X: Axis{Title: "Percentile", Scale: Percentile}, Y: Axis{Title: title + " (ms)"}}
		var span extent
		fewest := math.MaxInt
		var lacking []string // runs that have only the numbers of a result block
		for i := range runs {
			d := runs[i].Summary.Latency(metric)
			if d.Len() == 0 {
				if runs[i].Summary.Completed != 0 {
					lacking = append(lacking, runs[i].Name())
				}
				continue
			}
			fewest = min(fewest, d.Len())
			upright := rising(seriesName(runs, i), colors[i], d.Len(), d.Percentile)
			flat := Series{Name: upright.Name, Style: Line, Color: colors[i]}
			for k, p := range upright.Y {
				if p < 100 {
					flat.add(-math.Log10(1-p/100), upright.X[k])
				}
			}
			span.add(upright.X...)
			shares.Series, curve.Series = append(shares.Series, upright), append(curve.Series, flat)
		}
		if len(shares.Series) == 0 {
			continue
		}
		shares.X.Scale, curve.Y.Scale = span.scale(requestSpan), span.scale(requestSpan)
		shares.Limits, curve.Limits = limits(runs, metric, true), limits(runs, metric, false)
		curve.Note = rest(fewest)
		if lacking != nil {
			curve.Title += fmt.Sprintf(", of %d of %s", len(curve.Series), metrics.Counted(len(runs), "run"))
			curve.Note = strings.TrimSpace(curve.Note + " Single values are not known of " + strings.Join(lacking, ", ") + ".")
		}
		shares.fit(true)
		curve.fit(false)
		charts = append(charts, shares, curve)
	}
	return charts
}

// ecdf is a chart of the share of things at or below each value.
func ecdf(name, title, axis, things string) Chart {
	return Chart{Name: name, Title: title, X: Axis{Title: axis},
		Y: Axis{Title: "Share of " + things + " at or below (%)", Max: 100}}
}

// rising is the line of an ECDF of n values, from their percentiles.
func rising(name string, color, n int, percentile func(p float64) float64) Series {
	s := Series{Name: name, Style: Line, Color: color}
	for _, p := range percents(n) {
		s.add(percentile(p), p)
	}
	return s
}

// rest says from which percentile on a curve of n values rests on few values.
func rest(n int) string {
	const few = stats.MinBeyond
	if n <= few {
		return fmt.Sprintf("There are only %d samples.", n)
	}
	digits := max(0, int(math.Ceil(math.Log10(float64(n))))-2)
	return fmt.Sprintf("Fewer than %d samples lie beyond P%.*f.", few, digits, 100*(1-few/float64(n)))
}

// percents are the percentiles at which a curve of n values has points: each percent,
// beyond 90 tenths of a decade, and the maximum.
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

// seriesName is the name of a run's line in a chart with one line for each run.
func seriesName(runs []Run, i int) string {
	if len(runs) == 1 {
		return "this run"
	}
	return runs[i].Name()
}
