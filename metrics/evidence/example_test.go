package evidence_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics/evidence"
)

// Two shards ran on two machines. Their CPU time adds up, and the longest stall is of the run.
func Example() {
	run := evidence.Evidence{
		CPU:    evidence.CPU{Used: 2 * time.Second},
		Pauses: evidence.Pauses{LongestStall: 3 * time.Millisecond},
	}
	run.Add(&evidence.Evidence{
		CPU:    evidence.CPU{Used: time.Second},
		Pauses: evidence.Pauses{LongestStall: 8 * time.Millisecond},
	}, false)
	fmt.Println(run.CPU.Used, run.Pauses.LongestStall)

	// Output:
	// 3s 8ms
}
