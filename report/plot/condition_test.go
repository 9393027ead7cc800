package plot

import (
	"testing"

	"github.com/servebench/servebench/metrics"
)

func TestMiddleOfRepeatsIsTheirMedianInAnyOrder(t *testing.T) {
	var c condition
	for _, v := range []float64{3, 1, 2} {
		c.runs = append(c.runs, Run{Summary: &metrics.Summary{Completed: 1, RequestThroughput: v}})
	}
	if got := c.middle(func(s *metrics.Summary) float64 { return s.RequestThroughput }); got != 2 {
		t.Errorf("%v, want 2", got)
	}
}
