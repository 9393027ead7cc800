package samples_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics/samples"
)

// A counter that goes back is of another process: the server restarted, or there are several.
func Example() {
	var seen samples.Processes
	for i, generated := range []float64{100, 250, 7} {
		at := time.Duration(i) * time.Second
		why := seen.Add(&samples.Sample{At: at, Server: &samples.Server{Generated: &generated}})
		fmt.Printf("%v %q\n", at, why)
	}

	// Output:
	// 0s ""
	// 1s ""
	// 2s "its count of tokens generated went back from 250 to 7"
}
