package reuse_test

import (
	"fmt"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/reuse"
)

// The second turn begins with the first one and its answer.
func ExampleCache() {
	c := &dataset.Conversation{Turns: []dataset.Turn{
		{Prompt: "Hi", PromptLen: 64, OutputLen: 32}, {Prompt: "And then?", PromptLen: 120},
	}}
	cache := reuse.Cache{Live: true}
	fmt.Println(cache.Next(c, 0), cache.Next(c, 1))
	// Output: 0 96
}
