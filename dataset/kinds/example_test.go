package kinds_test

import (
	"fmt"

	"github.com/servebench/servebench/dataset/kinds"
)

// The datasets whose prompts come with their times.
func ExampleNames() {
	for _, name := range kinds.Names(kinds.OwnTimes) {
		fmt.Println(name, kinds.Find(name).Has(kinds.SeveralTurns))
	}
	// Output:
	// timed_trace false
	// file false
	// multi_turn true
	// mooncake true
	// azure true
	// otel true
}
