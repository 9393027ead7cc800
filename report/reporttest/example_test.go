package reporttest_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/servebench/servebench/report/reporttest"
)

// What a judge says of each run.
func Example() {
	runs := reporttest.Runs()
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		fmt.Println(name, runs[name].Trust.Verdict)
	}
	// Output:
	// bundled VALID
	// fair VALID
	// faulty SUSPECT
	// foul SUSPECT
	// reasoning VALID
	// sharded VALID
	// sharded-suspect SUSPECT
	// talks SUSPECT
}
