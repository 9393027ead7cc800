package tokenizer

import (
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
	flagged         []int     // added tokens that the file flags as special
	words           sync.Pool // of *word
}

// A model makes the tokens of one word. They may be in the memory of w, and are
// valid until its next use.
type model interface {
	tokens(w *word, text string) []int32
}

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
	vocab, err := p.setModel(d, pre.byteLevel)
	if err != nil {
		return nil, err
	}
	added := place(d.AddedTokens, vocab)
	if err := p.setAdded(added); err != nil {
		return nil, err
	}
	p.flagged = specialIDs(added)
	p.special = p.flagged
	if p.template, err = newTemplate(d.PostProcessor); err != nil {
		return nil, err
	}
	p.decode, err = newDecoder(d.Decoder)
	return p, err
}

// setModel reads the model and returns its vocabulary.
func (p *pipeline) setModel(d *document, byteLevel bool) (*vocabulary, error) {
	var vocab *vocabulary
	switch typeOf(d.Model) {
	case "BPE":
		m, err := newBPE(d.Model, d.bulk, byteLevel)
		if err != nil {
			return nil, fmt.Errorf("model: %w", err)
		}
		p.model, vocab = m, m.vocab
	case "WordLevel":
		m, err := newWordLevel(d.Model, d.bulk)
		if err != nil {
			return nil, fmt.Errorf("model: %w", err)
		}
		p.model, vocab = m, m.vocab
	default:
		return nil, unsupported("model", d.Model)
	}
	p.size, p.texts = vocab.size, slices.Clone(vocab.texts)
	return vocab, nil
}

func (p *pipeline) setAdded(tokens []addedToken) error {
	var raw, normalized []addedToken
	for _, t := range tokens {
		if err := setText(&p.texts, t.ID, t.Content); err != nil {
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
	w := p.words.Get().(*word)
	defer p.words.Put(w)
	w.tokens = slices.Grow(w.tokens[:0], len(ids))
	for _, id := range ids {
		if id >= 0 && id < len(p.texts) && p.texts[id] != "" {
			w.tokens = append(w.tokens, p.texts[id])
		}
	}
	text := strings.Join(p.decode(w.tokens), "")
	if p.clean {
		text = cleanUp(text)
	}
	return text
}

func (p *pipeline) VocabSize() int    { return p.size }
func (p *pipeline) SpecialIDs() []int { return slices.Clone(p.special) }
func (p *pipeline) NumSpecial() int   { return p.template.len() }
