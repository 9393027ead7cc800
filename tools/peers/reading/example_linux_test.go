package reading_test

import (
	"fmt"

	"github.com/servebench/servebench/tools/peers/reading"
)

// The bare reader allocates nothing.
func ExampleBurst() {
	cost, err := reading.Burst(reading.Bare, 1, 3)
	fmt.Println(len(cost.CPU), cost.CPU[0] > 0, cost.Allocs < 0.1, err)
	// Output: 3 true true <nil>
}
