package steady_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/steady"
)

// Two requests are in flight at any time, until the load ends.
func Example() {
	c := metrics.NewCollector(&metrics.Header{})
	c.Keep.Trace = true
	for i := range 60 {
		sent := time.Duration(i/2) * time.Second
		c.Add(&record.Record{Times: record.Times{Sent: sent, End: sent + time.Second}})
	}
	window, found := steady.State(c.Summary(30))
	fmt.Println(window.From, window.To, found)

	// Output:
	// 0s 29s true
}
