package tokenizer_test

import (
	"fmt"
	"log"

	"github.com/servebench/servebench/dataset/tokenizer"
)

// A folder is that of a model, with its tokenizer.json and tokenizer_config.json.
func ExampleOpen() {
	t, err := tokenizer.Open("../../testdata/golden/tok-bos")
	if err != nil {
		log.Fatal(err)
	}
	ids := t.Encode("Hello, world", true)
	fmt.Println(ids, t.Count("Hello, world", false))
	fmt.Println(t.Decode(ids))
	// Output:
	// [0 42 71 78 78 81 14 223 89 81 84 78 70] 12
	// <s>Hello, world
}
