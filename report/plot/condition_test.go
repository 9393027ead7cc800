package plot

import (
	"slices"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/verdict"
)

func TestMiddleOfRepeatsIsTheirMedianInAnyOrder(t *testing.T) {
	var c Condition
	for _, v := range []float64{3, 1, 2} {
		c.Runs = append(c.Runs, Run{Summary: &metrics.Summary{Completed: 1, Rates: metrics.Rates{Requests: v}}})
	}
	if got := c.Middle(func(s *metrics.Summary) float64 { return s.Rates.Requests }); got != 2 {
		t.Errorf("%v, want 2", got)
	}
}

// A pair of a sequential sweep in which one run was disturbed has no part in the medians of either arm, unless no pair
// is left.
func TestMiddleLeavesOutDisturbedPairs(t *testing.T) {
	run := func(arm, repeat string, ttft float64, check string) Run {
		s := &metrics.Summary{Completed: 1, Trust: &verdict.Trust{}, Header: &metrics.Header{Config: metrics.Config{
			Metadata: []metrics.KV{{Key: "arm", Value: arm}, {Key: "repeat", Value: repeat}, {Key: "max-pairs", Value: "20"}},
		}}, Rates: metrics.Rates{Requests: ttft}}
		if check != "" {
			s.Trust.Checks = []verdict.Check{{Name: check, Text: "late"}}
		}
		return Run{Summary: s, Labels: s.Header.Config.Metadata}
	}
	middles := func(runs ...Run) (all []float64) {
		for _, c := range Conditions(runs) {
			all = append(all, c.Middle(func(s *metrics.Summary) float64 { return s.Rates.Requests }))
		}
		return all
	}
	for check, want := range map[string][]float64{"lag": {1, 10}, "streaming": {50.5, 505}} {
		if got := middles(run("old", "1", 1, ""), run("new", "1", 10, ""), run("old", "2", 100, check), run("new", "2", 1000, "")); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", check, got, want)
		}
	}
	if got := middles(run("old", "1", 1, ""), run("new", "1", 10, "lag")); !slices.Equal(got, []float64{1, 10}) {
		t.Errorf("no pair is left: %v", got)
	}
}
