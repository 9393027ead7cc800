package repeats_test

import (
	"fmt"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/repeats"
	"github.com/servebench/servebench/metrics/record"
)

func Example() {
	source := func(yield func(*dataset.Conversation, error) bool) {
		for _, prompt := range []string{"Hi", "Ho", "Hi"} {
			if !yield(&dataset.Conversation{Turns: []dataset.Turn{{Prompt: prompt}}}, nil) {
				return
			}
		}
	}
	var h repeats.History
	i := 0
	for range h.Compare(source, false) {
		h.Send(&record.Record{Index: i})
		i++
	}
	fmt.Println(h.Repeated, "prompt was sent before")
	// Output: 1 prompt was sent before
}
