package scan_test

import (
	"fmt"

	"github.com/servebench/servebench/loadgen/api/scan"
)

func Example() {
	names, values := []string{"text", "usage"}, make([][]byte, 2)
	sure := scan.Members([]byte(`{"id": 7, "text": "Hi", "usage": null}`), names, values)
	fmt.Printf("%v %s %v\n", sure, scan.Plain(values[0]), scan.Truthy(values[1]))
	// Output: true Hi false
}
