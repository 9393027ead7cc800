package endings_test

import (
	"fmt"

	"github.com/servebench/servebench/metrics/aspect/endings"
	"github.com/servebench/servebench/metrics/record"
)

func Example() {
	var e endings.Endings
	e.Add(&record.Record{Answer: record.Answer{Finish: "stop"}, Result: record.Result{Differs: record.DiffersLineEnd}})
	fmt.Println(e.Reasons, e.Differing.Sound(), e.Differing.Broken())
	// Output: map[stop:1] 1 0
}
