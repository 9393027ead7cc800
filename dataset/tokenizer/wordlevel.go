package tokenizer

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// A wordLevel tokenizer has one token for each word between white space.
type wordLevel struct {
	vocab    map[string]int
	words    map[int]string // of the vocabulary and of added tokens
	unknown  int
	added    *addedTokens
	special  []int
	template template
}

func newWordLevel(d *document) (*wordLevel, error) {
	if err := d.onlyWords(); err != nil {
		return nil, err
	}
	var model struct {
		Type    string         `json:"type"`
		Vocab   map[string]int `json:"vocab"`
		Unknown string         `json:"unk_token"`
	}
	if err := decode(d.Model, &model); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	unknown, ok := model.Vocab[model.Unknown]
	if !ok {
		return nil, fmt.Errorf("model: unk_token %q is not in the vocabulary", model.Unknown)
	}
	w := &wordLevel{vocab: model.Vocab, unknown: unknown, special: specialIDs(d.AddedTokens)}
	w.words = make(map[int]string, len(w.vocab)+len(d.AddedTokens))
	for word, id := range w.vocab {
		if other, taken := w.words[id]; taken || id < 0 {
			return nil, fmt.Errorf("model: word %q has the id %d, which is negative or that of %q", word, id, other)
		}
		w.words[id] = word
	}
	for _, t := range d.AddedTokens {
		w.words[t.ID] = t.Content
	}
	var err error
	if w.added, err = newAddedTokens(d.AddedTokens); err != nil {
		return nil, err
	}
	w.template, err = newTemplate(d.PostProcessor)
	return w, err
}

// onlyWords refuses the parts of a document that a wordLevel does not act on.
func (d *document) onlyWords() error {
	for _, part := range []struct {
		name string
		raw  json.RawMessage
	}{
		{"truncation", d.Truncation},
		{"padding", d.Padding},
		{"normalizer", d.Normalizer},
		{"decoder", d.Decoder},
	} {
		if !absent(part.raw) {
			return unsupported(part.name, part.raw)
		}
	}
	if typeOf(d.PreTokenizer) != "WhitespaceSplit" {
		return unsupported("pre_tokenizer", d.PreTokenizer)
	}
	return nil
}

func (w *wordLevel) Encode(text string, special bool) []int {
	var ids []int
	if special {
		ids = slices.Clone(w.template.before)
	}
	for word, id := range w.pieces(text) {
		if id == lookUp {
			var ok bool
			if id, ok = w.vocab[word]; !ok {
				id = w.unknown
			}
		}
		ids = append(ids, id)
	}
	if special {
		ids = append(ids, w.template.after...)
	}
	return ids
}

func (w *wordLevel) Count(text string, special bool) int {
	n := 0
	if special {
		n = w.template.len()
	}
	for range w.pieces(text) {
		n++
	}
	return n
}

func (w *wordLevel) Decode(ids []int) string {
	var text strings.Builder
	space := ""
	for _, id := range ids {
		if word, ok := w.words[id]; ok {
			text.WriteString(space)
			text.WriteString(word)
			space = " "
		}
	}
	return text.String()
}

func (w *wordLevel) VocabSize() int    { return len(w.vocab) }
func (w *wordLevel) SpecialIDs() []int { return slices.Clone(w.special) }
func (w *wordLevel) NumSpecial() int   { return w.template.len() }

// lookUp stands for the id of a word that is to be looked up in the vocabulary.
const lookUp = -1

// pieces yields the tokens of text: words, and added tokens with their ids.
func (w *wordLevel) pieces(text string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for text := text; text != ""; {
			start, end, id := w.added.find(text)
			for word := range strings.FieldsSeq(text[:start]) {
				if !yield(word, lookUp) {
					return
				}
			}
			if start < end && !yield(text[start:end], id) {
				return
			}
			text = text[end:]
		}
	}
}
