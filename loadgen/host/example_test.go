package host_test

import (
	"fmt"

	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/metrics/evidence"
)

// A Pulse goes along with a run, and fills in what it noticed.
func Example() {
	pulse := host.StartPulse()
	// Here goes the run.
	var e evidence.Evidence
	pulse.Stop(&e)
	fmt.Println("cores known:", e.CPU.Cores > 0, "and time watched:", e.CPU.Watched > 0)
	// Output: cores known: true and time watched: true
}
