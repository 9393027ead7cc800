package numbers_test

import (
	"fmt"

	"github.com/servebench/servebench/metrics/compare/numbers"
)

// A gate may name any percentile, and any number of an adapter.
func ExampleFind() {
	for _, name := range []string{"output_throughput", "p95_ttft", "sql/p95_ttft", "prompts"} {
		n, known := numbers.Find(name)
		fmt.Println(name, known, n.Unit)
	}
	// Output:
	// output_throughput true tok/s
	// p95_ttft true ms
	// sql/p95_ttft true ms
	// prompts false
}
