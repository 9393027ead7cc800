package dataset_test

import (
	"fmt"
	"log"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
)

// Prompts of random tokens, as vLLM's client makes them, and the share of them that
// the second of two load generators sends.
func Example() {
	source, n, err := dataset.Random{
		Options:  dataset.Options{Tokenizer: tokenizer.Stub{Size: 32000}, Num: 4, IDPrefix: "r-"},
		InputLen: 3, OutputLen: 16,
	}.Open()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(n, "conversations")
	second := dataset.Shard{Index: 1, Of: 2}
	number := 0
	for c, err := range source {
		if err != nil {
			log.Fatal(err)
		}
		if second.Has(number) {
			fmt.Println(c.ID, c.Turns[0].Prompt, c.Turns[0].OutputLen)
		}
		number++
	}
	// Output:
	// 4 conversations
	// r-1 tok20383 tok20384 tok20385 16
	// r-3 tok8636 tok8637 tok8638 16
}
