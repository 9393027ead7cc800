package metrics_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

func ExampleCollector() {
	c := metrics.NewCollector(&metrics.Header{})
	for i := range 4 {
		sent := time.Duration(i) * 500 * time.Millisecond
		r := &record.Record{Index: i, Times: record.Times{Due: sent, Slot: sent, Sent: sent}, Tokens: record.Tokens{In: 8, Out: 3}}
		for _, after := range []time.Duration{20, 30, 40} { // the arrival of each chunk
			r.Answer.Chunks.Append(sent + after*time.Millisecond)
		}
		r.Times.FirstContent, r.Times.Last, r.Times.End = r.Answer.Chunks.First(), r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
		c.Add(r)
	}
	s := c.Summary(2)
	fmt.Println(s.Completed, "requests,", s.Rates.Output, "tokens a second")
	fmt.Println("TTFT", s.TTFT.Median(), "ms, TPOT", s.TPOT.Percentile(99), "ms")
	fmt.Println("at most", s.Truth.PeakConcurrency, "in flight")
	// Output:
	// 4 requests, 6 tokens a second
	// TTFT 20 ms, TPOT 10 ms
	// at most 1 in flight
}
