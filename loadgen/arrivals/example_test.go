package arrivals_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/loadgen/arrivals"
)

// Five requests of a Poisson process, at two a second. The last one is due after
// exactly 2.5 s, as vLLM's client has it.
func Example() {
	process := arrivals.Process{Rate: 2, Burstiness: 1, Seed: 0}
	schedule, err := process.Schedule(5)
	if err != nil {
		fmt.Println(err)
		return
	}
	for due := range schedule {
		fmt.Println(due.Round(time.Millisecond))
	}
	// Output:
	// 461ms
	// 1.189s
	// 1.724s
	// 2.181s
	// 2.5s
}

// A rate that climbs from 0 to 10 requests a second within a minute.
func ExampleParseCurve() {
	curve, err := arrivals.ParseCurve("points:0s=0,60s=10")
	if err != nil {
		fmt.Println(err)
		return
	}
	process := arrivals.Process{Burstiness: 1, Curve: curve}
	n, err := process.Count(time.Minute)
	fmt.Println("about 300 requests:", n > 250 && n < 350, err)
	// Output: about 300 requests: true <nil>
}
