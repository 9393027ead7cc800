package metrics

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics/record"
)

// An SLO is an upper limit on one latency of a request, or on the job time of a session.
type SLO struct {
	Metric string  // ttft, ttfo, tpot, e2el or JobSLO
	Limit  float64 // milliseconds, inclusive
}

// MarshalText writes an SLO in the syntax of --goodput: ttft:100.0.
func (s SLO) MarshalText() ([]byte, error) {
	return []byte(s.Metric + ":" + FormatFloat(s.Limit)), nil
}

// UnmarshalText reads what MarshalText writes.
func (s *SLO) UnmarshalText(text []byte) error {
	metric, limit, _ := strings.Cut(string(text), ":")
	ms, err := strconv.ParseFloat(limit, 64)
	if err != nil {
		return fmt.Errorf("an SLO of %q: %w", text, err)
	}
	*s = SLO{metric, ms}
	return nil
}

// JobSLO is the Metric of an SLO on the job time of a session.
const JobSLO = "job"

// LimitsRequests reports whether an SLO of the run limits a latency of its requests.
func (c *Config) LimitsRequests() bool {
	return slices.ContainsFunc(c.Goodput, func(s SLO) bool { return s.Metric != JobSLO })
}

// Good reports whether a request met every SLO on its latencies.
func Good(r *record.Record, slos []SLO) bool {
	o := gapless(r)
	return good(&o, slos)
}

// good reports whether a successful request met every SLO. As in vLLM's client, a request of one
// output token has a TPOT of 0 here. An answer that only reasons has no TTFO, so it meets no SLO on that.
func good(o *Outcome, slos []SLO) bool {
	for _, slo := range slos {
		seconds := o.TTFT
		switch slo.Metric {
		case JobSLO:
			continue
		case "ttfo":
			seconds = o.TTFO
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
