package asked_test

import (
	"fmt"

	"github.com/servebench/servebench/metrics/compare/asked"
)

// Runs at several rates differ from runs at one of them. A baseline that does not know the cores says nothing about
// them.
func ExampleDifferences() {
	slow := asked.Parameters{"model": "demo", "request-rate": "2", asked.Cores: "8"}
	fast := asked.Parameters{"model": "demo", "request-rate": "10"}
	fmt.Println(asked.Differences([]asked.Parameters{slow}, []asked.Parameters{slow, fast}, nil))
	fmt.Println(asked.Differences([]asked.Parameters{slow}, []asked.Parameters{fast}, []string{"request-rate"}))
	// Output:
	// [request-rate is 2 in the old runs and 2, 10 in the new ones]
	// []
}
