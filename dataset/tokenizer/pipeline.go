package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
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
	blanks          []int    // the ids of empty tokens
	size            int
	special         []int
	flagged         []int     // added tokens that the file flags as special
	words           sync.Pool // of *word
}

// A model makes the tokens of one word. They may be in the memory of w, and are
// valid until its next use.
type model interface {
	tokens(w *word, text string) []int32
	words() *vocabulary
}

// modelKinds are the kinds of models that a document may have. The vocabulary of the document is in
// b unless it is nil; byteLevel is the pre-tokenizer's.
func modelKinds(b *bulk, byteLevel bool) []kind[model] {
	return []kind[model]{
		{name: "BPE", but: "dropout, continuing_subword_prefix, byte_fallback after ByteLevel or with end_of_word_suffix",
			read: func(s section) (model, error) { return newBPE(s, b, byteLevel) }},
		{name: "Unigram", but: "a file without unk_id", read: func(s section) (model, error) { return newUnigram(s, b) }},
		{name: "WordLevel", but: "as WordPiece", read: func(s section) (model, error) { return newWordLevel(s, b) }},
		{name: "WordPiece", but: "an unk_token outside the vocabulary, two tokens with one id, ids above 4,194,303",
			read: func(s section) (model, error) { return newWordPiece(s, b) }},
	}
}

func newPipeline(d *document, s *settings) (*pipeline, error) {
	p := new(pipeline)
	p.words.New = func() any { return new(word) }
	var err error
	if p.normalize, err = s.normalizer(section{"normalizer", d.Normalizer}); err != nil {
		return nil, err
	}
	pre, err := newPreTokenizer(section{"pre_tokenizer", d.PreTokenizer})
	if err != nil {
		return nil, err
	}
	p.split = pre.split
	if p.model, err = choose(section{"model", typed(d.Model)}, modelKinds(d.bulk, pre.byteLevel)); err != nil {
		return nil, err
	}
	if _, bytes := p.model.(*bpe); pre.byteLevel && !bytes {
		p.split = p.split.then(asPrinted)
	}
	vocab := p.model.words()
	p.blanks = vocab.blanks()
	p.size, p.texts = vocab.size, slices.Clone(vocab.texts)
	added := place(d.AddedTokens, vocab)
	if err := p.setAdded(added); err != nil {
		return nil, err
	}
	p.flagged = specialIDs(added)
	if p.special = p.flagged; s != nil {
		p.apply(s)
	}
	if p.template, err = newTemplate(section{"post_processor", d.PostProcessor}); err != nil {
		return nil, err
	}
	p.decode, err = newDecoder(section{"decoder", d.Decoder})
	return p, err
}

// typed is a model with its type. The first files had none: it follows from the fields.
func typed(raw json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields["vocab"] == nil || fields["type"] != nil {
		return raw
	}
	kind := "WordLevel"
	switch {
	case fields["merges"] != nil:
		kind = "BPE"
	case fields["max_input_chars_per_word"] != nil:
		kind = "WordPiece"
	case bytes.HasPrefix(fields["vocab"], []byte("[")):
		kind = "Unigram"
	}
	fields["type"] = json.RawMessage(strconv.Quote(kind))
	whole, err := json.Marshal(fields)
	if err != nil {
		return raw
	}
	return whole
}

func (p *pipeline) setAdded(tokens []addedToken) error {
	var raw, normalized []addedToken
	for _, t := range tokens {
		if err := setText(&p.texts, t.ID, t.Content); err != nil {
			return fmt.Errorf("added tokens: %w", err)
		}
		if t.Normalized {
			normalized = append(normalized, t)
			if p.texts[t.ID] = p.written(t.Content); p.texts[t.ID] == "" {
				return fmt.Errorf("added_tokens: nothing is left of %q once it is normalized, which is not supported", t.Content)
			}
		} else {
			raw = append(raw, t)
		}
	}
	p.raw = newAddedTokens(raw, func(content string) string { return content })
	p.normalized = newAddedTokens(normalized, p.written)
	return nil
}

// written is a text once it is normalized.
func (p *pipeline) written(text string) string {
	text, _ = p.normalize(text, 0)
	return text
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
	emit := func(text string, _ int) { visit(p.model.tokens(w, text)) }
	p.raw.split(valid(text), func(part string, start int, t *addedToken) {
		if t != nil {
			added(t)
			return
		}
		head := 0
		if start == 0 {
			_, head = runeAt(part, 0)
		}
		part, head = p.normalize(part, head)
		p.normalized.split(part, func(part string, start int, t *addedToken) {
			if t != nil {
				added(t)
				return
			}
			p.split(part, head-start, emit)
		})
	})
}

func (p *pipeline) Decode(ids []int) string {
	w := p.words.Get().(*word)
	defer p.words.Put(w)
	w.tokens = slices.Grow(w.tokens[:0], len(ids))
	for _, id := range ids {
		if id >= 0 && id < len(p.texts) && (p.texts[id] != "" || slices.Contains(p.blanks, id)) {
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
