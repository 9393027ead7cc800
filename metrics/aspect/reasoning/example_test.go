package reasoning_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/reasoning"
	"github.com/servebench/servebench/metrics/record"
)

// The reasoning of an answer begins after 100 ms, and what a user asked for after 400 ms.
func Example() {
	r := &record.Record{Tokens: record.Tokens{Out: 2}, Answer: record.Answer{Reasoned: true}}
	r.Times.FirstContent, r.Times.FirstOutput = 100*time.Millisecond, 400*time.Millisecond
	r.Answer.Chunks.Append(r.Times.FirstContent)
	r.Answer.Chunks.Append(r.Times.FirstOutput)
	r.Times.Last, r.Times.End = r.Times.FirstOutput, r.Times.FirstOutput
	c := aspect.Collector(new(metrics.Header))
	c.Add(r)
	s := c.Summary(1)
	fmt.Printf("TTFT %.0f ms, TTFO %.0f ms, %d answer with reasoning\n",
		s.TTFT.Mean(), s.TTFO().Mean(), reasoning.Of(s).Answers)

	// Output:
	// TTFT 100 ms, TTFO 400 ms, 1 answer with reasoning
}
