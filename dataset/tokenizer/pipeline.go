package tokenizer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A pipeline is the Tokenizer of a tokenizer.json. It has five steps. It finds the
// added tokens that are not normalized; normalizes the rest; finds the normalized
// added tokens; cuts the rest into words; and the model makes tokens of each word.
type pipeline struct {
	raw, normalized *addedTokens
	normalize       normalizer
	split           splitter
	model           model
	template        template
	decode          decoder
	clean           bool     // decoded text loses the spaces before punctuation
	texts           []string // of each id, as the decoder gets it; empty for unused ids
	size            int
	special         []int
	words           sync.Pool // of *word
}

// A model makes the tokens of one word. They may be in the memory of w, and are
// valid until its next use.
type model interface {
	tokens(w *word, text string) []int32
}

// maxID bounds the ids of a vocabulary, so that a broken file does not take all
// memory.
const maxID = 1<<22 - 1

func newPipeline(d *document) (*pipeline, error) {
	if !absent(d.Truncation) {
		return nil, unsupported("truncation", d.Truncation)
	}
	if !absent(d.Padding) {
		return nil, unsupported("padding", d.Padding)
	}
	p := new(pipeline)
	p.words.New = func() any { return new(word) }
	var err error
	if p.normalize, err = newNormalizer(d.Normalizer); err != nil {
		return nil, err
	}
	pre, err := newPreTokenizer(d.PreTokenizer)
	if err != nil {
		return nil, err
	}
	p.split = pre.split
	vocab, err := p.setModel(d.Model, pre.byteLevel)
	if err != nil {
		return nil, err
	}
	added := place(d.AddedTokens, vocab)
	if err := p.setAdded(added); err != nil {
		return nil, err
	}
	p.special = specialIDs(added)
	if p.template, err = newTemplate(d.PostProcessor); err != nil {
		return nil, err
	}
	p.decode, err = newDecoder(d.Decoder)
	return p, err
}

// setModel reads the model and returns its vocabulary.
func (p *pipeline) setModel(raw json.RawMessage, byteLevel bool) (vocab map[string]int32, err error) {
	switch typeOf(raw) {
	case "BPE":
		p.model, vocab, err = newBPE(raw, byteLevel)
	case "WordLevel":
		var m *wordLevel
		if m, err = newWordLevel(raw); err == nil {
			p.model, vocab = m, m.vocab
		}
	default:
		return nil, unsupported("model", raw)
	}
	p.size = len(vocab)
	for text, id := range vocab {
		if err == nil {
			err = p.setText(int(id), text)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return vocab, nil
}

func (p *pipeline) setText(id int, text string) error {
	if id < 0 || id > maxID {
		return fmt.Errorf("token %q has the id %d, which is not between 0 and %d", text, id, maxID)
	}
	if missing := id + 1 - len(p.texts); missing > 0 {
		p.texts = append(p.texts, make([]string, missing)...)
	}
	if other := p.texts[id]; other != "" && other != text {
		return fmt.Errorf("tokens %q and %q have the same id, %d", min(text, other), max(text, other), id)
	}
	p.texts[id] = text
	return nil
}

func (p *pipeline) setAdded(tokens []addedToken) error {
	var raw, normalized []addedToken
	for _, t := range tokens {
		if err := p.setText(t.ID, t.Content); err != nil {
			return fmt.Errorf("added tokens: %w", err)
		}
		if t.Normalized {
			normalized = append(normalized, t)
			p.texts[t.ID] = p.normalize(t.Content)
		} else {
			raw = append(raw, t)
		}
	}
	p.raw = newAddedTokens(raw, unchanged)
	p.normalized = newAddedTokens(normalized, p.normalize)
	return nil
}

// id is the id of the token with that content, or -1.
func (p *pipeline) id(content string) int {
	for _, t := range slices.Concat(p.raw.tokens, p.normalized.tokens) {
		if t.Content == content {
			return t.ID
		}
	}
	return slices.Index(p.texts, content)
}

func (p *pipeline) Encode(text string, special bool) []int {
	ids := make([]int, 0, len(text)/4+p.template.len())
	if special {
		ids = append(ids, p.template.before...)
	}
	p.each(text, func(tokens []int32) {
		for _, id := range tokens {
			ids = append(ids, int(id))
		}
	})
	if special {
		ids = append(ids, p.template.after...)
	}
	return ids
}

func (p *pipeline) Count(text string, special bool) int {
	n := 0
	if special {
		n = p.template.len()
	}
	p.each(text, func(tokens []int32) { n += len(tokens) })
	return n
}

// each visits the tokens of text in order, some at a time.
func (p *pipeline) each(text string, visit func(tokens []int32)) {
	w := p.words.Get().(*word)
	defer p.words.Put(w)
	added := func(t *addedToken) {
		w.ids = append(w.ids[:0], int32(t.ID))
		visit(w.ids)
	}
	emit := func(text string, _ bool) { visit(p.model.tokens(w, text)) }
	p.raw.split(valid(text), func(part string, start int, t *addedToken) {
		if t != nil {
			added(t)
			return
		}
		begins := start == 0
		p.normalized.split(p.normalize(part), func(part string, start int, t *addedToken) {
			if t != nil {
				added(t)
				return
			}
			p.split(part, begins && start == 0, emit)
		})
	})
}

func (p *pipeline) Decode(ids []int) string {
	tokens := make([]string, 0, len(ids))
	for _, id := range ids {
		if id >= 0 && id < len(p.texts) && p.texts[id] != "" {
			tokens = append(tokens, p.texts[id])
		}
	}
	text := strings.Join(p.decode(tokens), "")
	if p.clean {
		text = cleanUp(text)
	}
	return text
}

func (p *pipeline) VocabSize() int    { return p.size }
func (p *pipeline) SpecialIDs() []int { return slices.Clone(p.special) }
func (p *pipeline) NumSpecial() int   { return p.template.len() }
