package tokenizer

import "unicode/utf8"

// A wordPiece model takes the longest token that a word begins with, then the longest one that the
// rest begins with, and so on. A word whose rest begins with no token is unknown as a whole.
type wordPiece struct {
	vocab   *vocabulary
	pieces  *prefixes
	prefix  string // of a token within a word
	within  uint64 // its hash
	longest int    // runes of a word that is not unknown for its length
	unknown int32
}

// newWordPiece reads a model of type WordPiece, whose vocabulary is in b unless it is nil.
func newWordPiece(s section, b *bulk) (*wordPiece, error) {
	var file struct {
		Type    string           `json:"type"`
		Vocab   map[string]int32 `json:"vocab"`
		Unknown string           `json:"unk_token"`
		Prefix  string           `json:"continuing_subword_prefix"`
		Longest uint32           `json:"max_input_chars_per_word"`
	}
	if err := s.read(&file); err != nil {
		return nil, err
	}
	vocab, unknown, err := readWords(s, b, file.Vocab, file.Unknown)
	if err != nil {
		return nil, err
	}
	return &wordPiece{
		vocab: vocab, pieces: newPrefixes(vocab.texts), prefix: file.Prefix, within: hashed(prefixSeed, file.Prefix),
		longest: int(file.Longest), unknown: unknown,
	}, nil
}

func (m *wordPiece) words() *vocabulary { return m.vocab }

func (m *wordPiece) tokens(w *word, text string) []int32 {
	w.ids = w.ids[:0]
	if len(text) > m.longest && utf8.RuneCountInString(text) > m.longest {
		return append(w.ids, m.unknown)
	}
	step := walk{prefixes: m.pieces, hash: prefixSeed}
	for text != "" {
		step.text, step.end = text, 0
		end, found := 0, int32(0)
		for {
			id, ok := step.next()
			if !ok {
				break
			}
			end, found = step.end, id
		}
		if end == 0 {
			return append(w.ids[:0], m.unknown)
		}
		w.ids = append(w.ids, found)
		text = text[end:]
		step.hash, step.head = m.within, m.prefix
	}
	return w.ids
}
