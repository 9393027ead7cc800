package overview

import (
	"fmt"
	"math"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/catalogue"
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
	add := func(key string, decimals int) {
		n, _ := catalogue.Find(key)
		v := n.Of(s)
		say(n.Label, strings.TrimSpace(metrics.Readable(v, decimals)+" "+string(n.Unit)), v, "")
	}
	add("completed", 0)
	add("failed", 0)
	add("request_throughput", 2)
	add("output_throughput", 1)
	add("goodput", 2)
	energy, _ := catalogue.Find("joules_per_output_token")
	say("Energy", fmt.Sprintf("%.4g J per output token", energy.Of(s)), energy.Of(s), "")
	price, _ := catalogue.Find("usd_per_million_output_tokens")
	say("Price", fmt.Sprintf("$%.4g per million output tokens", price.Of(s)), price.Of(s), "")
	if of := sessions.Of(s); of != nil {
		all = append(all, Fact{Name: "Sessions completed", Value: fmt.Sprintf("%d of %d", of.Completed, of.Begun)})
		add("median_job_s", 2)
		add("cached_percent", 1)
	}
	if s.Completed == 0 {
		return all
	}
	for _, latency := range []string{"ttft", "ttfo", "tpot", "e2el"} {
		d := s.Latency(latency)
		if d == nil {
			continue
		}
		add("median_"+latency, 2)
		p99, _ := catalogue.Find("p99_" + latency)
		v := p99.Of(s)
		say(p99.Label, p99.Text(v)+" "+string(p99.Unit), v, report.Interval(d, 99))
	}
	return all
}
