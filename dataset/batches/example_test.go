package batches_test

import (
	"fmt"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/batches"
	"github.com/servebench/servebench/dataset/tokenizer"
)

// Each request has the query and then its documents.
func ExampleRerank() {
	random := dataset.Random{Options: dataset.Options{Num: 3, Tokenizer: tokenizer.Stub{Size: 100}}, InputLen: 8}
	source, n, err := batches.Rerank{Random: random, Size: 2}.Open()
	if err != nil {
		panic(err)
	}
	fmt.Println(n, "requests")
	for c, err := range source {
		if err != nil {
			panic(err)
		}
		batch := c.Turns[0].Payload.Batch
		fmt.Printf("request %s: %d documents, %d tokens\n", c.ID, len(batch)-1, c.Turns[0].PromptLen)
	}
	// Output:
	// 2 requests
	// request 0: 2 documents, 16 tokens
	// request 1: 1 documents, 8 tokens
}
