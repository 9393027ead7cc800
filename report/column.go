package report

import (
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/cost"
)

// A column is one number of a run.
type column struct {
	head string // as shown
	key  string // in CSV and JSON, with the unit
	of   func(*metrics.Summary) float64
	few  func(*metrics.Summary) bool // it rests on too few samples; nil if it never does
	fine bool                        // it has four decimals instead of two
}

var runColumns = []column{
	{head: "completed", key: "completed", of: func(s *metrics.Summary) float64 { return float64(s.Completed) }},
	{head: "failed", key: "failed", of: func(s *metrics.Summary) float64 { return float64(s.Failed) }},
	{head: "s", key: "duration_s", of: func(s *metrics.Summary) float64 { return s.Seconds }},
	{head: "req/s", key: "requests_per_s", of: func(s *metrics.Summary) float64 { return s.RequestThroughput }},
	{head: "output tok/s", key: "output_tokens_per_s", of: func(s *metrics.Summary) float64 { return s.OutputThroughput }},
	{head: "total tok/s", key: "total_tokens_per_s", of: func(s *metrics.Summary) float64 { return s.TotalThroughput }},
}

// pooledColumns are the numbers of pooling endpoints, for tables in which a run is of one.
var pooledColumns = []column{
	{head: "inputs/s", key: "inputs_per_s", of: func(s *metrics.Summary) float64 { return s.InputRate }},
}

// sessionColumns are the numbers of sessions, for tables in which a run has some.
var sessionColumns = []column{
	{head: "sessions/s", key: "sessions_per_s", of: func(s *metrics.Summary) float64 { return s.Sessions.Throughput }},
	{head: "median job s", key: "median_job_s", of: func(s *metrics.Summary) float64 {
		if !present(&s.Sessions.JobTime) {
			return math.NaN()
		}
		return s.Sessions.JobTime.Median() / 1000
	}},
	{head: "cached %", key: "cached_percent", of: func(s *metrics.Summary) float64 {
		return 100 * s.Sessions.Cache.CachedShare()
	}},
}

// costColumns are the energy and the money that runs cost. A table has those that a run knows.
var costColumns = []column{
	{head: "W", key: "mean_power_w", of: ofEnergy((*cost.Energy).Watts)},
	numbered("J/output tok", "joules_per_output_token"),
	numbered("J/tok", "joules_per_token"),
	{head: "output tok/s/W", key: "output_tokens_per_joule", fine: true, of: func(s *metrics.Summary) float64 {
		return ofEnergy(func(e *cost.Energy) float64 { return e.TokensPerJoule(s.TotalOutput) })(s)
	}},
	numbered("$/M input", "usd_per_million_input_tokens"),
	numbered("$/M output", "usd_per_million_output_tokens"),
	numbered("$/M tok", "usd_per_million_tokens"),
}

// numbered is a column of a number of compare.Metrics, with four decimals.
func numbered(head, name string) column {
	return column{head: head, key: name, fine: true, of: func(s *metrics.Summary) float64 {
		m, _ := compare.Find(name)
		return m.Of(s)
	}}
}

// ofEnergy is a number of a run's energy, NaN if the GPUs were not sampled.
func ofEnergy(number func(*cost.Energy) float64) func(*metrics.Summary) float64 {
	return func(s *metrics.Summary) float64 {
		e := s.Energy()
		if e == nil {
			return math.NaN()
		}
		return number(e)
	}
}

// wakeColumns are the times of a server's wake, for tables in which a run has one.
var wakeColumns = []column{
	{head: "wake ready ms", key: "wake_ready_ms", of: func(s *metrics.Summary) float64 {
		if s.Header.Wake == nil {
			return math.NaN()
		}
		return metrics.Milliseconds(s.Header.Wake.Ready)
	}},
	{head: "wake first token ms", key: "wake_first_token_ms", of: func(s *metrics.Summary) float64 {
		if s.Header.Wake == nil {
			return math.NaN()
		}
		return metrics.Milliseconds(s.Header.Wake.FirstToken)
	}},
}

// ofSessions is c for runs that may have no sessions.
func ofSessions(c column) column {
	of := c.of
	c.of = func(s *metrics.Summary) float64 {
		if s.Sessions == nil {
			return math.NaN()
		}
		return of(s)
	}
	return c
}

// columns are the numbers of runs, and the mean and the requested percentiles of each latency.
func (t Table) columns() []column {
	var percentiles []float64
	for _, row := range t {
		if row.Summary != nil {
			percentiles = append(percentiles, row.Summary.Header.Config.Percentiles...)
		}
	}
	slices.Sort(percentiles)
	if percentiles = slices.Compact(percentiles); percentiles == nil {
		percentiles = []float64{99}
	}
	columns := slices.Clone(runColumns)
	if slices.ContainsFunc(t, func(r Row) bool { return r.Summary != nil && r.Summary.InputRate > 0 }) {
		columns = append(columns, pooledColumns...)
	}
	if slices.ContainsFunc(t, func(r Row) bool { return r.Summary != nil && r.Summary.Sessions != nil }) {
		for _, c := range sessionColumns {
			columns = append(columns, ofSessions(c))
		}
	}
	for _, c := range costColumns {
		if slices.ContainsFunc(t, func(r Row) bool { return r.number(c) != "" }) {
			columns = append(columns, c)
		}
	}

	if slices.ContainsFunc(t, func(r Row) bool { return r.Summary != nil && r.Summary.Header.Wake != nil }) {
		columns = append(columns, wakeColumns...)
	}
	reasons := slices.ContainsFunc(t, func(r Row) bool { return r.Summary != nil && r.Summary.TTFO() != nil })
	for _, metric := range []string{"ttft", "ttfo", "tpot", "itl", "e2el"} {
		if metric != "ttfo" || reasons {
			columns = append(columns, latencyColumns(metric, percentiles)...)
		}
	}
	return columns
}

// latencyColumns are the mean and percentiles of a metric, in milliseconds.
func latencyColumns(metric string, percentiles []float64) []column {
	name := strings.ToUpper(metric)
	latency := func(s *metrics.Summary) *metrics.Distribution { return s.Metric(metric) }
	if metric == "ttfo" {
		latency = func(s *metrics.Summary) *metrics.Distribution { d, _ := s.Decisive(metric); return d }
	}
	columns := []column{
		{head: "mean " + name + " ms", key: "mean_" + metric + "_ms",
			of: func(s *metrics.Summary) float64 { return latency(s).Mean() }},
	}
	for _, p := range percentiles {
		text := metrics.FormatPercentile(p)
		columns = append(columns, column{
			head: "P" + text + " " + name + " ms", key: "p" + text + "_" + metric + "_ms",
			of: func(s *metrics.Summary) float64 { return latency(s).Percentile(p) },
			few: func(s *metrics.Summary) bool {
				size := metrics.TailSize{Percentile: p, N: latency(s).Len()}
				return size.N > 0 && size.Few()
			},
		})
	}
	return columns
}
