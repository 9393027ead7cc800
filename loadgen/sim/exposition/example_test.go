package exposition_test

import (
	"fmt"

	"github.com/servebench/servebench/loadgen/sim/exposition"
)

// A gauge and a histogram of two values.
func Example() {
	lengths := exposition.NewHistogram("length", "Tokens.", []float64{10, 20})
	lengths.Observe(10)
	lengths.Observe(35)
	x := exposition.Text{Labels: `model="small"`}
	x.Metric("running", "Requests.", "gauge", 3)
	x.Histogram(lengths)
	fmt.Print(x.String())
	// Output:
	// # HELP running Requests.
	// # TYPE running gauge
	// running{model="small"} 3.0
	// # HELP length Tokens.
	// # TYPE length histogram
	// length_bucket{model="small",le="10.0"} 1.0
	// length_bucket{model="small",le="20.0"} 1.0
	// length_bucket{model="small",le="+Inf"} 2.0
	// length_count{model="small"} 2.0
	// length_sum{model="small"} 45.0
}
