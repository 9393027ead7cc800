package compare

import (
	"math"
	"slices"

	"github.com/servebench/servebench/metrics"
)

// A Metric is a number of a run that runs are compared by.
type Metric struct {
	Name   string // as output_throughput or median_ttft
	Unit   string
	Higher bool                           // more is better
	Of     func(*metrics.Summary) float64 // NaN where the run has none

	latency    string  // of metrics.Metrics, empty for others
	percentile float64 // it is, 0 for others
}

// Metrics are all that runs are compared by, in the order in which they are shown.
var Metrics = slices.Concat([]Metric{
	{Name: "request_throughput", Unit: "req/s", Higher: true, Of: func(s *metrics.Summary) float64 { return s.RequestThroughput }},
	{Name: "output_throughput", Unit: "tok/s", Higher: true, Of: func(s *metrics.Summary) float64 { return s.OutputThroughput }},
	{Name: "total_throughput", Unit: "tok/s", Higher: true, Of: func(s *metrics.Summary) float64 { return s.TotalThroughput }},
	{Name: "goodput", Unit: "req/s", Higher: true, Of: func(s *metrics.Summary) float64 { return s.Goodput }},
}, latencies("ttft"), latencies("tpot"), latencies("itl"), latencies("e2el"))

// latencies are what is compared of a latency, in milliseconds.
func latencies(name string) []Metric {
	of := func(number func(*metrics.Distribution) float64) func(*metrics.Summary) float64 {
		return func(s *metrics.Summary) float64 {
			if s.Completed == 0 {
				return math.NaN()
			}
			return number(s.Metric(name))
		}
	}
	return []Metric{
		{Name: "mean_" + name, Unit: "ms", Of: of((*metrics.Distribution).Mean), latency: name},
		{Name: "median_" + name, Unit: "ms", Of: of((*metrics.Distribution).Median), latency: name, percentile: 50},
		{Name: "p99_" + name, Unit: "ms", Of: of(func(d *metrics.Distribution) float64 { return d.Percentile(99) }), latency: name, percentile: 99},
	}
}

// Find is the metric of that name.
func Find(name string) (Metric, bool) {
	i := slices.IndexFunc(Metrics, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return Metric{}, false
	}
	return Metrics[i], true
}

// values are the metric's of all runs, nil if one has none.
func (m *Metric) values(runs []*metrics.Summary) []float64 {
	var values []float64
	for _, s := range runs {
		v := m.Of(s)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		values = append(values, v)
	}
	return values
}
