package replay_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/replay"
)

// A session in a file, and what is read of it.
func Example() {
	folder, err := os.MkdirTemp("", "replay")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	name := filepath.Join(folder, "prompts.jsonl")
	f, err := os.Create(name)
	if err != nil {
		log.Fatal(err)
	}
	chat := &dataset.Conversation{ID: "s-0", Turns: []dataset.Turn{
		{Prompt: "Hello.", PromptLen: 2, OutputLen: 8}, {Prompt: " Why?", PromptLen: 12, OutputLen: 16, Gap: 2.5},
	}}
	if err := replay.WriteLine(f, chat, 0); err != nil {
		log.Fatal(err)
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
	source, n, err := replay.File{Options: dataset.Options{Path: name}}.Open()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(n, "session")
	for c, err := range source {
		if err != nil {
			log.Fatal(err)
		}
		for _, turn := range c.Turns {
			fmt.Printf("%q after %v s\n", turn.Prompt, turn.Gap)
		}
	}
	// Output:
	// 1 session
	// "Hello." after 0 s
	// " Why?" after 2.5 s
}
