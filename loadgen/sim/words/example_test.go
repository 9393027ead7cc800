package words_test

import (
	"fmt"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim/words"
)

// The same prompt has the same answer. An answer that ends by itself has one word less than tokens.
func Example() {
	vocabulary := words.New(tokenizer.Stub{Size: 1000})
	for range 2 {
		text := vocabulary.Text(words.Asked{Prompt: []int{1, 2, 3}, MaxTokens: 8, IgnoreEOS: true})
		text.EndAfter(4)
		fmt.Printf("%d tokens:%s\n", text.Left(), text.Append(nil, text.Left()))
	}
	// Output:
	// 4 tokens: tok67 tok623 tok563
	// 4 tokens: tok67 tok623 tok563
}
