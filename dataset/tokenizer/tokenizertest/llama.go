// Package tokenizertest makes tokenizers for tests and benchmarks.
//
// The tokenizers of real models are too large to keep, and their licences differ. These have their
// shape and their size, and words without a meaning.
package tokenizertest

import "math/rand/v2"

// llamaWords is the size of Llama 3's vocabulary without its special tokens.
const llamaWords = 128_000

// Llama is the text of a tokenizer.json that is byte-level like Llama 3's, with its pattern and
// size. Half of its words begin with a space and half join what precedes them, so that random ids
// change when their text is encoded. It is the same at each call.
func Llama() []byte {
	draw := rand.New(rand.NewPCG(1, 2))
	words := make(map[string]int)
	for r := rune(0); r < 0x144; r++ {
		// Printable Latin, and the characters of the other bytes.
		if r > ' ' && r < 0x7f || r > 0xa0 && r != 0xad {
			words[string(r)] = len(words)
		}
	}
	var merges []string
	for len(words) < llamaWords {
		word := []string{"Ġ", "e"}[len(words)%2]
		for range 2 + draw.IntN(8) {
			letter := string(rune('a' + draw.IntN(5)*draw.IntN(6)))
			if _, known := words[word+letter]; !known {
				merges = append(merges, word+" "+letter)
				words[word+letter] = len(words)
			}
			word += letter
		}
	}
	const pattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	return document(object{
		"added_tokens": []object{},
		"model":        object{"type": "BPE", "vocab": words, "merges": merges, "ignore_merges": true},
		"decoder":      object{"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true},
		"pre_tokenizer": object{"type": "Sequence", "pretokenizers": []object{
			{"type": "Split", "pattern": object{"Regex": pattern}, "behavior": "Isolated", "invert": false},
			{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
		}},
	})
}
