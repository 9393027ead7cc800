package tokenizer

import (
	"encoding/json"
	"fmt"
)

// A wordLevel model has one token for each word.
type wordLevel struct {
	vocab   *vocabulary
	unknown int32
}

// newWordLevel reads a model of type WordLevel, whose vocabulary is in b unless it is nil.
func newWordLevel(raw json.RawMessage, b *bulk) (*wordLevel, error) {
	var model struct {
		Type    string           `json:"type"`
		Vocab   map[string]int32 `json:"vocab"`
		Unknown string           `json:"unk_token"`
	}
	if err := decode(raw, &model); err != nil {
		return nil, err
	}
	if b == nil {
		vocab, err := vocabularyOf(model.Vocab)
		if err != nil {
			return nil, err
		}
		b = &bulk{vocab: vocab}
	}
	unknown, ok := b.vocab.id(model.Unknown)
	if !ok {
		return nil, fmt.Errorf("unk_token %q is not in the vocabulary", model.Unknown)
	}
	return &wordLevel{vocab: b.vocab, unknown: unknown}, nil
}

func (m *wordLevel) tokens(w *word, text string) []int32 {
	id, ok := m.vocab.id(text)
	if !ok {
		id = m.unknown
	}
	w.ids = append(w.ids[:0], id)
	return w.ids
}
