package plot

import (
	"testing"

	"github.com/servebench/servebench/metrics"
)

func TestMiddleOfRepeatsIsTheirMedianInAnyOrder(t *testing.T) {
	var c Condition
	for _, v := range []float64{3, 1, 2} {
		c.Runs = append(c.Runs, Run{Summary: &metrics.Summary{Completed: 1, RequestThroughput: v}})
	}
	if got := c.Middle(func(s *metrics.Summary) float64 { return s.RequestThroughput }); got != 2 {
		t.Errorf("%v, want 2", got)
	}
}
