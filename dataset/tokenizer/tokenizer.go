// Package tokenizer turns text into token ids and back, from a Hugging Face
// tokenizer.json, in pure Go.
//
// A tokenizer is a value that is opened once and then only read. What a
// tokenizer.json asks for and this package does not know is refused when the
// file is opened, by name, so that a token count is either that of the real
// tokenizer or an error, never an estimate.
package tokenizer

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A Tokenizer is safe for concurrent use.
type Tokenizer interface {
	// Encode gives the ids of text; with special, also those that the
	// post-processor adds around a single sequence (BOS and the like).
	Encode(text string, special bool) []int
	// Count is the length of what Encode gives, without making it.
	Count(text string, special bool) int
	// Decode gives the text of ids, special tokens included. Ids that are not
	// in the vocabulary are left out.
	Decode(ids []int) string
	// VocabSize is the size of the base vocabulary, without added tokens.
	VocabSize() int
	// SpecialIDs are the ids of all special tokens, ascending.
	SpecialIDs() []int
	// NumSpecial is how many tokens Encode adds to a single sequence when
	// special is set.
	NumSpecial() int
}

// Open gives the tokenizer called name: "stub-N" is the Stub with N words, and
// anything else is a tokenizer.json file or a folder that holds one.
func Open(name string) (Tokenizer, error) {
	if size, ok := strings.CutPrefix(name, "stub-"); ok {
		if n, err := strconv.Atoi(size); err == nil && n > 0 {
			return Stub{Size: n}, nil
		}
	}
	path := name
	if stat, err := os.Stat(name); err == nil && stat.IsDir() {
		path = filepath.Join(name, "tokenizer.json")
	}
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, fmt.Errorf("tokenizer %q: there is no file %s, and the name is not stub-N", name, path)
	}
	if err != nil {
		return nil, fmt.Errorf("tokenizer %q: %w", name, err)
	}
	return parse(path, data)
}
