package tokenizer

// A wordLevel model has one token for each word.
type wordLevel struct {
	vocab   *vocabulary
	unknown int32
}

// newWordLevel reads a model of type WordLevel, whose vocabulary is in b unless it is nil.
func newWordLevel(s section, b *bulk) (*wordLevel, error) {
	var file struct {
		Type    string           `json:"type"`
		Vocab   map[string]int32 `json:"vocab"`
		Unknown string           `json:"unk_token"`
	}
	if err := s.read(&file); err != nil {
		return nil, err
	}
	vocab, unknown, err := readWords(s, b, file.Vocab, file.Unknown)
	return &wordLevel{vocab: vocab, unknown: unknown}, err
}

func (m *wordLevel) words() *vocabulary { return m.vocab }

func (m *wordLevel) tokens(w *word, text string) []int32 {
	id, ok := m.vocab.id(text)
	if !ok {
		id = m.unknown
	}
	w.ids = append(w.ids[:0], id)
	return w.ids
}
