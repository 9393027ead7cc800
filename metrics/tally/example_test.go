package tally_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics/tally"
)

func Example() {
	var tokens tally.TimeSeries
	var requests tally.InFlight
	for i := range 4 {
		from := time.Duration(i) * 400 * time.Millisecond
		requests.Add(from, from+time.Second, 1000)
		tokens.Add(from+time.Second, 5)
	}
	fmt.Println(tokens.BusiestSecond(), "tokens in the busiest second")
	fmt.Println("at most", requests.Peak(), "requests in flight, busy for", requests.Any())
	// Output:
	// 15 tokens in the busiest second
	// at most 3 requests in flight, busy for 2.2s
}
