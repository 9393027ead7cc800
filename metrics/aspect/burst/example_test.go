package burst_test

import (
	"fmt"
	"math"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/burst"
	"github.com/servebench/servebench/metrics/record"
)

// Ten requests are due at once, and sent one after the other.
func Example() {
	c := aspect.Collector(&metrics.Header{Config: metrics.Config{RequestRate: math.Inf(1)}})
	for i := range 10 {
		sent := time.Duration(i) * time.Millisecond
		c.Add(&record.Record{Index: i, Times: record.Times{Sent: sent, End: time.Second}})
	}
	b := burst.Of(c.Summary(1))
	fmt.Println(b.Requests, "requests in", b.Took)

	// Output:
	// 10 requests in 9ms
}
