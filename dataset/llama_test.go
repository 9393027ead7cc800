package dataset

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/dataset/tokenizer/tokenizertest"
)

// llamaSized is a tokenizer of Llama 3's size.
func llamaSized(b *testing.B) tokenizer.Tokenizer {
	name := filepath.Join(b.TempDir(), "tokenizer.json")
	if err := os.WriteFile(name, tokenizertest.Llama(), 0o600); err != nil {
		b.Fatal(err)
	}
	t, err := tokenizer.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	return t
}
