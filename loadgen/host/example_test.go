package host_test

import (
	"fmt"

	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/metrics"
)

// A Pulse goes along with a run, and fills in what it noticed.
func Example() {
	pulse := host.StartPulse()
	// Here goes the run.
	var e metrics.Evidence
	pulse.Stop(&e)
	fmt.Println("cores known:", e.Cores > 0, "and time watched:", e.Watched > 0)
	// Output: cores known: true and time watched: true
}
