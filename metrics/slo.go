package metrics

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// sloMetrics are the latencies that --goodput can limit.
var sloMetrics = []string{"ttft", "tpot", "e2el"}

// ParseGoodput reads the values of --goodput, one KEY:MILLISECONDS each. Of two
// with one key the later counts.
func ParseGoodput(values []string) ([]SLO, error) {
	var slos []SLO
	for _, v := range values {
		metric, limit, ok := strings.Cut(v, ":")
		if !ok {
			return nil, fmt.Errorf("--goodput %q: must be KEY:MILLISECONDS, such as ttft:100", v)
		}
		if !slices.Contains(sloMetrics, metric) {
			return nil, fmt.Errorf("--goodput %q: %q is not one of %s", v, metric, strings.Join(sloMetrics, ", "))
		}
		ms, err := strconv.ParseFloat(limit, 64)
		if err != nil || math.IsNaN(ms) {
			return nil, fmt.Errorf("--goodput %q: %q is not a number of milliseconds", v, limit)
		}
		if ms < 0 {
			return nil, fmt.Errorf("--goodput %q: must not be negative", v)
		}
		slos = slices.DeleteFunc(slos, func(s SLO) bool { return s.Metric == metric })
		slos = append(slos, SLO{metric, ms})
	}
	return slos, nil
}

// ParsePercentiles reads the value of --metric-percentiles: percentiles from 0
// to 100, separated by commas. Their order is kept.
func ParsePercentiles(value string) ([]float64, error) {
	var ps []float64
	for field := range strings.SplitSeq(value, ",") {
		p, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil || !(p >= 0 && p <= 100) {
			return nil, fmt.Errorf("--metric-percentiles %q: %q is not a number from 0 to 100", value, field)
		}
		ps = append(ps, p)
	}
	return ps, nil
}

// good says whether a successful request met every SLO. A request of one output
// token has a TPOT of 0 here, as in vLLM's client.
func good(o *Outcome, slos []SLO) bool {
	for _, slo := range slos {
		seconds := o.TTFT
		switch slo.Metric {
		case "tpot":
			seconds = o.TPOT()
		case "e2el":
			seconds = o.Latency
		}
		if slo.Limit/1000 < seconds {
			return false
		}
	}
	return true
}
