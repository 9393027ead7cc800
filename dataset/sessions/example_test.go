package sessions_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/reuse"
	"github.com/servebench/servebench/dataset/sessions"
)

func Example() {
	folder, _ := os.MkdirTemp("", "trace")
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "trace.jsonl")
	os.WriteFile(path, []byte(`{"session_id": "a", "timestamp": 0, "input_length": 600, "output_length": 20, "hash_ids": [1, 2]}
{"timestamp": 900, "input_length": 1024, "output_length": 20, "hash_ids": [1, 3]}
{"session_id": "a", "delay": 2000, "input_length": 1100, "output_length": 20, "hash_ids": [1, 4, 5]}
`), 0o600)
	trace := sessions.Mooncake{Options: dataset.Options{Path: path, VocabSize: 32000}}
	source, n, err := trace.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(n, "sessions")
	for c, err := range source {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(c.ID, "starts after", *c.Due, "s and has", len(c.Turns), "turns")
	}
	use, err := reuse.UseOf(source, nil)
	fmt.Println("a prefix cache has", use.Reusable, "of", use.Prompts, "tokens", err)
	// Output:
	// 2 sessions
	// a starts after 0 s and has 2 turns
	// row-2 starts after 0.9 s and has 1 turns
	// a prefix cache has 1024 of 2724 tokens <nil>
}
