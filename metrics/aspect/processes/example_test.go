package processes_test

import (
	"fmt"

	"github.com/servebench/servebench/metrics/aspect/processes"
	"github.com/servebench/servebench/metrics/samples"
)

func Example() {
	var p processes.Processes
	for _, preemptions := range []float64{3, 0} {
		p.AddSample(&samples.Sample{Server: &samples.Server{Preemptions: &preemptions}})
	}
	fmt.Println(p.Mixed)
	// Output: its count of preemptions went back from 3 to 0
}
