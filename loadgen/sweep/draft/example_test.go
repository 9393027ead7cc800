package draft_test

import (
	"fmt"
	"log"

	"github.com/servebench/servebench/loadgen/sweep/draft"
)

// A flag with several values becomes the grid of the experiment.
func Example() {
	text, err := draft.Document([]draft.Option{
		{Flag: "base-url", Values: []string{"http://127.0.0.1:8000"}},
		{Flag: "request-rate", Values: []string{"1", "2", "4"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s", text)
	// Output:
	// # Run it by servebench sweep FILE. Paths are relative to the folder of this file.
	// load:
	//   base-url: http://127.0.0.1:8000
	// grid:
	//   request-rate: [1, 2, 4]
}
