package overview

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
	say := func(name, text string, v float64, interval string) {
		if !math.IsNaN(v) && v >= 0 {
			all = append(all, Fact{name, text, interval})
		}
	}
	add := func(name string, v float64, decimals int, unit string) {
		say(name, metrics.Readable(v, decimals)+unit, v, "")
	}
	add("Completed", float64(s.Completed), 0, "")
	add("Failed", float64(s.Failed), 0, "")
	add("Request throughput", s.RequestThroughput, 2, " req/s")
	add("Output throughput", s.OutputThroughput, 1, " tok/s")
	add("Goodput", s.Goodput, 2, " req/s")
	if e := s.Energy(); e != nil {
		energy := e.PerToken(s.TotalOutput)
		say("Energy", fmt.Sprintf("%.4g J per output token", energy), energy, "")
	}
	price := cost.PerMillion(s.Dollars(), s.TotalOutput)
	say("Price", fmt.Sprintf("$%.4g per million output tokens", price), price, "")
	if of := s.Sessions; of != nil {
		all = append(all, Fact{Name: "Sessions completed", Value: fmt.Sprintf("%d of %d", of.Completed, of.Begun)})
		if d := &of.JobTime; d.Len() > 0 || d.Quoted != nil {
			add("Median job time", d.Median()/1000, 2, " s")
		}
		add("Cached prompt tokens", 100*of.Cache.CachedShare(), 1, " %")
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
		add("Median "+name, d.Median(), 2, " ms")
		say("P99 "+name, metrics.Readable(d.Percentile(99), 2)+" ms", d.Percentile(99), report.Interval(d, 99))
	}
	return all
}
