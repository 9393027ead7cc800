package processes

import (
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/samples"
)

// A run that met a restart has no start of its own, whichever shard saw it.
func TestARunOfTwoProcessesHasNoStart(t *testing.T) {
	start := &metrics.ServerStart{ID: "x"}
	collect := func(counts ...float64) *metrics.Collector {
		c := metrics.NewCollector(&metrics.Header{Server: start}, Kind)
		for _, n := range counts {
			c.AddSample(&samples.Sample{Server: &samples.Server{Generated: &n}})
		}
		return c
	}
	const why = "its count of tokens generated went back from 5 to 4"
	for name, test := range map[string]struct {
		first, second []float64
		evidence      *evidence.Evidence
		why           string
		started       bool
	}{
		"one":                       {[]float64{1, 2}, []float64{3}, nil, "", true},
		"two, by the first shard":   {[]float64{5, 4}, nil, nil, why, false},
		"two, by the second":        {nil, []float64{5, 4}, nil, why, false},
		"of several shards":         {[]float64{5}, []float64{4}, nil, "", true}, // each has its own server
		"restarted":                 {nil, nil, &evidence.Evidence{Server: evidence.Server{Restarted: "it did"}}, "", false},
		"mixed, by its last counts": {nil, nil, &evidence.Evidence{Server: evidence.Server{Mixed: "others asked"}}, "others asked", true},
	} {
		c := collect(test.first...)
		c.Merge(collect(test.second...), 0)
		s := c.Summary(1)
		s.Evidence = test.evidence
		if got := Start(s); Why(s) != test.why || (got == start) != test.started {
			t.Errorf("%s: %q, start %v", name, Why(s), got)
		}
	}
}
