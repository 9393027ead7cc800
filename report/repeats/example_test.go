package repeats_test

import (
	"fmt"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/report/repeats"
)

// Three runs on one start of a server show how runs on it differ, and nothing more.
func Example() {
	run := &metrics.Summary{Header: &metrics.Header{Server: &metrics.ServerStart{ID: "a"}}}
	fmt.Println(repeats.SharedStart([]*metrics.Summary{run, run, run}))
	// Output:
	// 3 runs on one server start: they show how runs on it differ, and not how starts do. servebench sweep starts the server for each repeat
}
