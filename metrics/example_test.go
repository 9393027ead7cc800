package metrics_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
)

func ExampleCollector() {
	c := metrics.NewCollector(&metrics.Header{})
	for i := range 4 {
		sent := time.Duration(i) * 500 * time.Millisecond
		r := &metrics.Record{Index: i, Due: sent, Slot: sent, Sent: sent, In: 8, Out: 3}
		for _, after := range []time.Duration{20, 30, 40} { // the arrival of each chunk
			r.Chunks.Append(sent + after*time.Millisecond)
		}
		r.FirstContent, r.Last, r.End = r.Chunks.First(), r.Chunks.Last(), r.Chunks.Last()
		c.Add(r)
	}
	s := c.Summary(2)
	fmt.Println(s.Completed, "requests,", s.OutputThroughput, "tokens a second")
	fmt.Println("TTFT", s.TTFT.Median(), "ms, TPOT", s.TPOT.Percentile(99), "ms")
	fmt.Println("at most", s.Truth.PeakConcurrency, "in flight")
	// Output:
	// 4 requests, 6 tokens a second
	// TTFT 20 ms, TPOT 10 ms
	// at most 1 in flight
}
