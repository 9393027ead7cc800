package sharing_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/sharing"
)

// run is a run of one request with a TTFT in milliseconds.
func run(group string, target string, solo bool, ttft float64) *metrics.Summary {
	c := aspect.Collector(&metrics.Header{Group: group, Target: target, Solo: solo})
	c.AddOutcome(metrics.Outcome{Success: true, Out: 2, TTFT: ttft / 1000, Latency: ttft/1000 + .1})
	return c.Summary(time.Second.Seconds())
}

// How many times as long as alone a target waits for its first token with the other one.
func ExampleLoad_Matrices() {
	var sums []*metrics.Summary
	for i, slower := range []float64{1.9, 2, 2.1} {
		group := fmt.Sprint(i)
		sums = append(sums,
			run(group, "a", true, 100), run(group, "b", true, 100),
			run(group, "a", false, 100*slower), run(group, "b", false, 100))
	}
	for _, e := range sharing.Loads(sums, nil) {
		m := e.Matrices()[0]
		for _, row := range m.Rows {
			for i, with := range m.With {
				if with != row.Target {
					s := row.Slower[i]
					fmt.Printf("%s of %s with %s: %.2f × (%.2f … %.2f)\n", m.Measure.Name, row.Target, with, s.Value, s.Low, s.High)
				}
			}
		}
	}
	// Output:
	// mean_ttft of a with b: 2.00 × (1.76 … 2.26)
	// mean_ttft of b with a: 1.00 × (1.00 … 1.00)
}
