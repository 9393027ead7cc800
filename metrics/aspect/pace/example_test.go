package pace_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/pace"
	"github.com/servebench/servebench/metrics/record"
)

// Requests are due every 10 ms, and sent every 20 ms.
func Example() {
	c := aspect.Collector(&metrics.Header{Config: metrics.Config{RequestRate: 100}})
	for i := range 11 {
		due := time.Duration(i) * 10 * time.Millisecond
		c.Add(&record.Record{Index: i, Times: record.Times{Due: due, Slot: due, Sent: 2 * due, End: time.Second}})
	}
	p := pace.Of(c.Summary(1))
	fmt.Printf("%.0f of %.0f a second\n", p.Achieved(), p.Asked())

	// Output:
	// 50 of 100 a second
}
