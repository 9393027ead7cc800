package lineup_test

import (
	"fmt"

	"github.com/servebench/servebench/loadgen/lineup"
)

// Two targets on one server never send it the same prompts.
func Example() {
	l := lineup.Lineup{
		Targets: []lineup.Target{{Name: "a", URL: "http://h:1", Seed: 7}, {Name: "b", URL: "http://h:1", Seed: 7}},
		Solo:    true,
	}
	for repeat := range 2 {
		for _, members := range l.Repeat(repeat) {
			seeds := map[string]int64{}
			for _, m := range members {
				seeds[l.Targets[m.Index].Name] = m.Seed
			}
			fmt.Println(seeds)
		}
	}
	// Output:
	// map[a:9]
	// map[b:10]
	// map[a:7 b:8]
	// map[a:11 b:12]
	// map[b:14]
	// map[a:13]
}
