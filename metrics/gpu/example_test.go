package gpu_test

import (
	"fmt"

	"github.com/servebench/servebench/metrics/gpu"
)

// A GPU got hot in one of two samples under load.
func Example() {
	c := gpu.Clocks{Index: 3}
	for _, active := range []gpu.Reasons{0x1, 0x0, 0x48} {
		c.Add(active)
	}
	fmt.Printf("%s: %d of %d: %s\n", &c, c.Slowed, c.Samples, c.Reasons)
	// Output: GPU 3: 1 of 2: hardware thermal slowdown
}
