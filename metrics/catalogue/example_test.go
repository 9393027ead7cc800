package catalogue_test

import (
	"fmt"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/catalogue"
)

func Example() {
	c := aspect.Collector(&metrics.Header{})
	for i := range 100 {
		ttft := float64(i+1) / 1000
		c.AddOutcome(metrics.Outcome{Success: true, Out: 2, TTFT: ttft, Latency: ttft + 0.02})
	}
	run := c.Summary(10)
	for _, n := range catalogue.Choose("requests_per_s", "p95_ttft", "failed") {
		fmt.Printf("%s: %s %s\n", n.Label, n.Text(n.Of(run)), n.Unit)
	}
	// Output:
	// Request throughput: 10.00 req/s
	// P95 TTFT: 95.05 ms
	// Failed: 0
}
