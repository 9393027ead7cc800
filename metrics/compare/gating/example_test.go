package gating_test

import (
	"fmt"

	"github.com/servebench/servebench/metrics/compare/gating"
)

// A gate file changes the usual gate.
func ExampleParse() {
	gate, err := gating.Parse("margin: {p95_ttft: '7%,1ms'}\nadvisory: [median_ttft, median_tpot]")
	if err != nil {
		fmt.Println(err)
	}
	for _, limit := range gate.Limits {
		fmt.Printf("%s: %g %% of 10 ms\n", limit.Number.Name, 100*limit.Share(10))
	}
	fmt.Println(gate.Text())
	// Output:
	// output_throughput: 5 % of 10 ms
	// p95_ttft: 10 % of 10 ms
	// {advisory: [median_ttft, median_tpot], margin: {p95_ttft: '7%,1ms'}}
}
