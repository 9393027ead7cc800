package metrics

import (
	"fmt"
	"strconv"
	"strings"
)

// An SLO is an upper limit on one latency of a request.
type SLO struct {
	Metric string  // ttft, tpot or e2el
	Limit  float64 // milliseconds, inclusive
}

// MarshalText writes an SLO as --goodput takes it: ttft:100.0.
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
