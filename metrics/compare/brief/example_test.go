package brief_test

import (
	"fmt"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/compare/brief"
)

// A run without a single good request is at fault, and no gate passes it.
func ExampleRuns() {
	c := aspect.Collector(&metrics.Header{Run: "r", Config: metrics.Config{Model: "demo"}})
	for _, r := range brief.Runs([]*metrics.Summary{c.Summary(1)}) {
		fmt.Println(r.ID, r.Asked["model"], r.Numbers["output_throughput"], r.Fault(0))
	}
	// Output:
	// r demo 0 no request completed
}
