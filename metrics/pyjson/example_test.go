package pyjson_test

import (
	"fmt"
	"log"

	"github.com/servebench/servebench/metrics/pyjson"
)

// An object keeps its order, and numbers are written as Python writes them.
func ExampleParse() {
	v, err := pyjson.Parse(`{"temperature": 0.0, "seed": 7, "stop": ["é"]}`)
	if err != nil {
		log.Fatal(err)
	}
	body := pyjson.Object{{Key: "model", Value: "m"}}.Merge(v.(pyjson.Object))
	fmt.Printf("%s\n", pyjson.Append(nil, body))
	// Output:
	// {"model": "m", "temperature": 0.0, "seed": 7, "stop": ["\u00e9"]}
}
