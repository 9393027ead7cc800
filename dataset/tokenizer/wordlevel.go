package tokenizer

import (
	"encoding/json"
	"fmt"
)

// A wordLevel model has one token for each word.
type wordLevel struct {
	vocab   map[string]int32
	unknown int32
}

func newWordLevel(raw json.RawMessage) (*wordLevel, error) {
	var model struct {
		Type    string           `json:"type"`
		Vocab   map[string]int32 `json:"vocab"`
		Unknown string           `json:"unk_token"`
	}
	if err := decode(raw, &model); err != nil {
		return nil, err
	}
	unknown, ok := model.Vocab[model.Unknown]
	if !ok {
		return nil, fmt.Errorf("unk_token %q is not in the vocabulary", model.Unknown)
	}
	return &wordLevel{vocab: model.Vocab, unknown: unknown}, nil
}

func (m *wordLevel) tokens(w *word, text string) []int32 {
	id, ok := m.vocab[text]
	if !ok {
		id = m.unknown
	}
	w.ids = append(w.ids[:0], id)
	return w.ids
}
