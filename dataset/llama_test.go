package dataset

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/servebench/servebench/dataset/tokenizer"
)

// llamaSized is a byte-level tokenizer with the size and the pattern of Llama 3's.
// Half of its words begin with a space, and the others join what is before them, so
// that random ids do not come back as they were.
func llamaSized(b *testing.B) tokenizer.Tokenizer {
	rng := rand.New(rand.NewPCG(1, 2))
	vocab := make(map[string]int)
	for r := range 0x144 {
		if r > ' ' && r < 0x7f || r > 0xa0 && r != 0xad {
			vocab[string(rune(r))] = len(vocab)
		}
	}
	var merges []string
	for len(vocab) < 128_000 {
		word := []string{"Ġ", "e"}[len(vocab)%2]
		for range 2 + rng.IntN(8) {
			next := string(rune('a' + rng.IntN(5)*rng.IntN(6)))
			if _, known := vocab[word+next]; !known {
				merges = append(merges, word+" "+next)
				vocab[word+next] = len(vocab)
			}
			word += next
		}
	}
	type object map[string]any
	pattern := `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	document, err := json.Marshal(object{
		"model":   object{"type": "BPE", "vocab": vocab, "merges": merges, "ignore_merges": true},
		"decoder": object{"type": "ByteLevel"},
		"pre_tokenizer": object{"type": "Sequence", "pretokenizers": []object{
			{"type": "Split", "pattern": object{"Regex": pattern}, "behavior": "Isolated", "invert": false},
			{"type": "ByteLevel", "use_regex": false},
		}},
	})
	if err != nil {
		b.Fatal(err)
	}
	name := filepath.Join(b.TempDir(), "tokenizer.json")
	if err := os.WriteFile(name, document, 0o600); err != nil {
		b.Fatal(err)
	}
	t, err := tokenizer.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	return t
}
