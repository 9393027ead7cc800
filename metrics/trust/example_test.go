package trust_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/trust"
)

// A load generator that stood still for 320 ms, without stamps by the kernel, cannot have measured well.
func ExampleJudge() {
	c := aspect.Collector(&metrics.Header{})
	for i := range 20 {
		sent := time.Duration(i) * 100 * time.Millisecond
		r := &record.Record{Index: i, Times: record.Times{Due: sent, Slot: sent, Sent: sent}, Tokens: record.Tokens{In: 10, Out: 2}}
		r.Answer.Chunks.Append(sent + 30*time.Millisecond)
		r.Answer.Chunks.Append(sent + 40*time.Millisecond)
		r.Times.FirstContent, r.Times.Last, r.Times.End = r.Answer.Chunks.First(), r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
		c.Add(r)
	}
	s := c.Summary(2)
	s.Evidence = &evidence.Evidence{CPU: evidence.CPU{Cores: 2, Watched: 60 * time.Second}, Stamps: evidence.Stamps{User: 40}, Pauses: evidence.Pauses{Stalls: 1, Stalled: 320 * time.Millisecond, LongestStall: 320 * time.Millisecond}}
	trust.Judge(s)
	fmt.Println(s.Trust.Verdict)
	for _, check := range s.Trust.Failed() {
		fmt.Println(check.Text)
	}
	// Output:
	// SUSPECT
	// this process was stopped for 320 ms at once (limit 25.0 ms)
}
