package power_test

import (
	"fmt"

	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/compare/power"
)

// Noisier runs take more pairs for the same gate.
func ExampleFor() {
	for _, noise := range []string{"1%", "4%"} {
		plan, err := power.For(noise, gating.Default(), 20)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %d pairs\n", noise, plan.Fixed)
	}
	// Output:
	// 1%: 3 pairs
	// 4%: 6 pairs
}
