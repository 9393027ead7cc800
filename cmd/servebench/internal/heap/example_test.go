package heap_test

import (
	"fmt"

	"github.com/servebench/servebench/cmd/servebench/internal/heap"
)

func Example() {
	heap.Small(heap.Large) // at the beginning of a command
	fmt.Println("a heap of", heap.Large>>20, "MiB is large")
	// Output: a heap of 16 MiB is large
}
