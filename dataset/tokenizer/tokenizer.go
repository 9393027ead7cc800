// Package tokenizer turns text into token ids and back, from a Hugging Face
// tokenizer.json, in pure Go.
package tokenizer

// A Tokenizer is safe for concurrent use.
type Tokenizer interface {
	// Encode gives the ids of text; with special, also those that the
	// post-processor adds around a single sequence (BOS and the like).
	Encode(text string, special bool) []int
	// Decode gives the text of ids, special tokens included.
	Decode(ids []int) string
	// VocabSize is the size of the base vocabulary, without added tokens.
	VocabSize() int
	// SpecialIDs are the ids of all special tokens, ascending.
	SpecialIDs() []int
	// NumSpecial is how many tokens Encode adds to a single sequence when
	// special is set.
	NumSpecial() int
}
