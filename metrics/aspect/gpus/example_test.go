package gpus_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/gpus"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
)

// A GPU takes 300 W during a run of two seconds.
func Example() {
	c := aspect.Collector(new(metrics.Header))
	c.Add(&record.Record{Times: record.Times{End: 2 * time.Second}})
	for i := range 3 {
		c.AddSample(&samples.Sample{At: time.Duration(i) * time.Second, GPUs: []samples.GPU{{Power: new(300.0)}}})
	}
	e := gpus.Energy(c.Summary(2))
	fmt.Printf("%.0f J in %.0f s\n", e.Joules, e.Seconds)

	// Output:
	// 600 J in 2 s
}
