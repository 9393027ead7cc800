package pooling_test

import (
	"fmt"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/pooling"
	"github.com/servebench/servebench/loadgen/api/request"
)

// A reranker gets a query and the documents to rank.
func ExampleRerank() {
	turn := &dataset.Turn{Payload: &dataset.Payload{Batch: []string{"red", "a rose", "the sky"}}}
	body, err := pooling.Rerank(&request.Body{Model: "m"}, turn, "")
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n%d documents\n", body, pooling.Documents(turn))
	// Output:
	// {"model": "m", "query": "red", "documents": ["a rose", "the sky"], "truncate_prompt_tokens": -1}
	// 2 documents
}
