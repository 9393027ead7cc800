package tokenizertest_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/dataset/tokenizer/tokenizertest"
)

func ExampleLlama() {
	folder, err := os.MkdirTemp("", "tokenizer")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "tokenizer.json")
	if err := os.WriteFile(file, tokenizertest.Llama(), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	t, err := tokenizer.Open(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.Decode(t.Encode("servers under load, 2026", false)))
	// Output: servers under load, 2026
}
