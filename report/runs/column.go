package runs

import (
	"slices"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/catalogue"
)

// runColumns are the numbers that every table of runs has.
var runColumns = catalogue.Chosen("completed", "failed", "duration_s", "requests_per_s", "output_tokens_per_s",
	"total_tokens_per_s")

// someColumns are the numbers of which a table has those groups that a run knows a number of.
var someColumns = []func() []metrics.Number{
	catalogue.Chosen("inputs_per_s"),
	catalogue.Chosen("sessions_per_s", "median_job_s", "cached_percent"),
	catalogue.Chosen("mean_power_w"),
	catalogue.Chosen("joules_per_output_token"),
	catalogue.Chosen("joules_per_token"),
	catalogue.Chosen("output_tokens_per_joule"),
	catalogue.Chosen("usd_per_million_input_tokens"),
	catalogue.Chosen("usd_per_million_output_tokens"),
	catalogue.Chosen("usd_per_million_tokens"),
	catalogue.Chosen("wake_ready_ms", "wake_first_token_ms"),
}

// columns are the Numbers of the table. The usual ones are what every run has, the groups that a run knows, and
// the mean and the requested percentiles of each latency.
func (t Table) columns() []metrics.Number {
	if t.Numbers != nil {
		return t.Numbers
	}
	var percentiles []float64
	for _, row := range t.Rows {
		if row.Summary != nil {
			percentiles = append(percentiles, row.Summary.Header.Config.Percentiles...)
		}
	}
	slices.Sort(percentiles)
	if percentiles = slices.Compact(percentiles); percentiles == nil {
		percentiles = []float64{99}
	}
	columns := slices.Clone(runColumns())
	for _, group := range someColumns {
		if slices.ContainsFunc(group(), t.knows) {
			columns = append(columns, group()...)
		}
	}
	for _, latency := range []string{"ttft", "ttfo", "tpot", "itl", "e2el"} {
		all := latencyColumns(latency, percentiles)
		switch {
		case latency != "ttfo":
			columns = append(columns, all...)
		case t.knows(all[0]):
			for _, n := range all {
				columns = append(columns, n.Decisive())
			}
		}
	}
	return columns
}

// knows reports that a run of the table has the number.
func (t Table) knows(n metrics.Number) bool {
	return slices.ContainsFunc(t.Rows, func(r Row) bool { return r.number(n) != "" })
}

// latencyColumns are the mean and percentiles of a latency, in milliseconds.
func latencyColumns(latency string, percentiles []float64) []metrics.Number {
	names := []string{"mean_" + latency}
	for _, p := range percentiles {
		names = append(names, "p"+metrics.FormatPercentile(p)+"_"+latency)
	}
	return catalogue.Choose(names...)
}
