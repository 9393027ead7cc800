package backlog_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/backlog"
	"github.com/servebench/servebench/metrics/record"
)

// Of 20 requests a second, the server answers 10.
func Example() {
	c := aspect.Collector(&metrics.Header{Config: metrics.Config{RequestRate: 20}})
	for i := range 600 {
		due, end := time.Duration(i)*50*time.Millisecond, time.Duration(i+1)*100*time.Millisecond
		c.Add(&record.Record{Index: i, Times: record.Times{Due: due, Slot: due, Sent: due, End: end}})
	}
	b := backlog.Of(c.Summary(60))
	fmt.Printf("%v: %.1f requests a second more wait\n", b.Grows(), b.Growth)

	// Output:
	// true: 10.0 requests a second more wait
}
