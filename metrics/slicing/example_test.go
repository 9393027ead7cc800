package slicing_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/slicing"
)

// Ten requests of 400 ms, one after the other, in slices of two seconds.
func Example() {
	c := metrics.NewCollector(&metrics.Header{})
	c.Keep.Trace = true
	for i := range 10 {
		sent := time.Duration(i) * 400 * time.Millisecond
		r := &record.Record{Index: i, Times: record.Times{Sent: sent, Last: sent + 400*time.Millisecond, End: sent + 400*time.Millisecond}}
		r.Answer.Chunks.Append(r.Times.Last)
		c.Add(r)
	}
	parts, err := slicing.Slice(c.Summary(4), 2*time.Second)
	for _, p := range parts {
		fmt.Println(p.From, p.To, p.Completed, p.InFlight)
	}
	fmt.Println(err)

	// Output:
	// 0s 2s 4 1
	// 2s 4s 6 1
	// <nil>
}
