package front

import (
	"fmt"
	"math"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/cost"
	"github.com/servebench/servebench/report"
)

// A Fact is a number with its name.
type Fact struct {
	Name, Value string
	Interval    string // of a percentile; may be empty
}

// Facts are the most important numbers of a run. Percentiles have their 95 % intervals. Facts
// omits unknown numbers.
func Facts(s *metrics.Summary) (all []Fact) {
	add := func(name, format string, v float64, interval string) {
		if !math.IsNaN(v) && v >= 0 {
			all = append(all, Fact{name, fmt.Sprintf(format, v), interval})
		}
	}
	add("Completed", "%.0f", float64(s.Completed), "")
	add("Failed", "%.0f", float64(s.Failed), "")
	add("Request throughput", "%.2f req/s", s.RequestThroughput, "")
	add("Output throughput", "%.1f tok/s", s.OutputThroughput, "")
	add("Goodput", "%.2f req/s", s.Goodput, "")
	if e := s.Energy(); e != nil {
		add("Energy", "%.4g J per output token", e.PerToken(s.TotalOutput), "")
	}
	add("Price", "$%.4g per million output tokens", cost.PerMillion(s.Dollars(), s.TotalOutput), "")
	if of := s.Sessions; of != nil {
		all = append(all, Fact{Name: "Sessions completed", Value: fmt.Sprintf("%d of %d", of.Completed, of.Begun)})
		if d := &of.JobTime; d.Len() > 0 || d.Quoted != nil {
			add("Median job time", "%.2f s", d.Median()/1000, "")
		}
		add("Cached prompt tokens", "%.1f %%", 100*of.Cache.CachedShare(), "")
	}
	if s.Completed == 0 {
		return all
	}
	for _, metric := range []string{"ttft", "ttfo", "tpot", "e2el"} {
		d, name := s.Metric(metric), strings.ToUpper(metric)
		if metric == "ttfo" {
			d = s.TTFO()
		}
		if d == nil {
			continue
		}
		add("Median "+name, "%.2f ms", d.Median(), "")
		add("P99 "+name, "%.2f ms", d.Percentile(99), report.Interval(d, 99))
	}
	return all
}
