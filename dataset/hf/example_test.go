package hf_test

import (
	"fmt"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/hf"
	"github.com/servebench/servebench/dataset/tokenizer"
)

func Example() {
	source, n, err := hf.HF{
		Options: dataset.Options{
			Path: "testdata/hub/datasets--openai--gsm8k/snapshots/0000000000000000000000000000000000000001",
			Num:  2, IDPrefix: "r-", Tokenizer: tokenizer.Stub{Size: 32000},
		}, Name: "openai/gsm8k", ChatTemplate: hf.ChatTemplate{Skip: true},
	}.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(n, "conversations")
	for c, err := range source {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(c.ID, c.Turns[0].Prompt, c.Turns[0].OutputLen)
	}
	// Output:
	// 2 conversations
	// r-0 g9 somi na somi ro Kali 256
	// r-1 g2 ro na deva purlen ro 256
}
