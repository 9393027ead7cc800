package stalls_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics/aspect/stalls"
	"github.com/servebench/servebench/metrics/record"
)

func Example() {
	r := new(record.Record)
	for _, at := range []time.Duration{100, 110, 180, 190} {
		r.Answer.Chunks.Append(at * time.Millisecond)
	}
	var s stalls.Stalls
	s.Add(r)
	fmt.Printf("the answer stood still for %.0f ms\n", s.Longest.Median())
	// Output: the answer stood still for 70 ms
}
