package numpy_test

import (
	"fmt"

	"github.com/servebench/servebench/metrics/numpy"
)

func Example() {
	sorted := []float64{10, 20, 30, 60}
	fmt.Println(numpy.Mean(sorted), numpy.Median(sorted), numpy.Percentile(sorted, 75))
	// Output: 30 25 37.5
}
