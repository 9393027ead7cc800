package course_test

import (
	"fmt"

	"github.com/servebench/servebench/metrics/course"
	"github.com/servebench/servebench/metrics/tally"
)

// After 60 of 100 requests, the server takes twice as long to the first chunk.
func Example() {
	var answers []tally.Answer
	for i := range 100 {
		a := tally.Answer{Start: float64(i), TTFT: 0.2, Latency: 0.7, Gaps: 10}
		if i >= 60 {
			a.TTFT, a.Latency = 0.4, 0.9
		}
		answers = append(answers, a)
	}
	change := course.Of(answers, 0).Change
	fmt.Printf("at %v: TTFT %.0f ms, then %.0f ms\n", change.At, change.Before.TTFT, change.After.TTFT)

	// Output:
	// at 1m0s: TTFT 200 ms, then 400 ms
}
