package lora_test

import (
	"fmt"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/loadgen/lora"
)

// The first of three adapters gets most of the requests.
func ExampleChoice_Assign() {
	prompts := func(yield func(*dataset.Conversation, error) bool) {
		for range 8 {
			if !yield(&dataset.Conversation{}, nil) {
				return
			}
		}
	}
	choice := lora.Choice{Names: []string{"sql", "chat", "math"}, Weights: lora.Zipf(3, 1)}
	for conversation := range choice.Assign(prompts, nprand.NewPython(0)) {
		fmt.Print(conversation.Adapter, " ")
	}
	// Output: math chat sql sql sql sql chat sql
}
