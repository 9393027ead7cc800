package faults_test

import (
	"fmt"
	"log"

	"github.com/servebench/servebench/loadgen/sim/faults"
)

// Every second request stalls after three chunks, unless its header asks for something else.
func Example() {
	list, err := faults.Parse("stall=3,crlf")
	if err != nil {
		log.Fatal(err)
	}
	plan := faults.Plan{List: list, Every: 2}
	for number, header := range []string{"", "", "none", "none"} {
		chosen, err := plan.Choose(header, 0, int64(number))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(chosen.With("stall"))
	}
	// Output:
	// 0 false
	// 3 true
	// 0 false
	// 0 false
}
