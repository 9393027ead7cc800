package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// A bpe is a byte-pair model. It starts with the characters of a word, or its bytes,
// and merges neighbours while there is a merge for them.
type bpe struct {
	vocab     *vocabulary
	whole     bool // a word of the vocabulary is one token, whatever its merges
	longest   int  // bytes of the longest token; a longer word is not in the vocabulary
	merges    *merges
	byteLevel bool
	bytes     [256]int32 // symbol of each byte, if byteLevel, or its fallback; -1 if missing
	lasts     [256]int32 // the same of the last byte of a word, if byteLevel
	suffix    string     // that the last symbol of a word has; empty in most models
	fallback  bool       // a character that is no symbol becomes its bytes
	unknown   int32      // symbol of any other unknown character; -1 drops it
	fuse      bool       // unknown characters side by side become one
	// joints has the pairs of symbols that a merge may join. A word can be cut between two
	// neighbours whose pair is missing: no merge crosses them. It is nil if a word cannot be cut.
	// Only a long word needs it, so the first one makes it.
	joints func() *merges
}

// A bpeModel is a BPE model as a file has it.
type bpeModel struct {
	Type         string           `json:"type"`
	Dropout      *float64         `json:"dropout,omitzero"`
	Unknown      *string          `json:"unk_token,omitzero"`
	Prefix       *string          `json:"continuing_subword_prefix,omitzero"`
	Suffix       *string          `json:"end_of_word_suffix,omitzero"`
	FuseUnknown  bool             `json:"fuse_unk,omitzero"`
	ByteFallback bool             `json:"byte_fallback,omitzero"`
	IgnoreMerges bool             `json:"ignore_merges,omitzero"`
	Vocab        map[string]int32 `json:"vocab"`
	Merges       json.RawMessage  `json:"merges"`
}

// newBPE reads a model of type BPE, whose vocabulary and merges are in b unless it is nil.
// byteLevel is the pre-tokenizer's.
func newBPE(s section, b *bulk, byteLevel bool) (*bpe, error) {
	var m bpeModel
	if err := s.read(&m); err != nil {
		return nil, err
	}
	if err := m.check(s, byteLevel); err != nil {
		return nil, err
	}
	if b == nil || b.pairs == nil {
		var err error
		if b, err = m.bulk(); err != nil {
			return nil, s.errorf("%w", err)
		}
	}
	model := &bpe{
		vocab: b.vocab, whole: m.IgnoreMerges, byteLevel: byteLevel,
		fallback: m.ByteFallback, unknown: -1, fuse: m.FuseUnknown,
	}
	if m.Suffix != nil {
		model.suffix = *m.Suffix
	}
	if m.Unknown != nil {
		id, ok := b.vocab.id(*m.Unknown)
		if !ok {
			return nil, s.errorf("unk_token %q is not in the vocabulary", *m.Unknown)
		}
		model.unknown = id
	}
	for _, text := range b.vocab.texts {
		model.longest = max(model.longest, len(text))
	}
	model.bytes = *fallbacks(b.vocab)
	if byteLevel {
		lasts := printed
		for i := range lasts {
			lasts[i] += model.suffix
		}
		model.bytes, model.lasts = b.vocab.all(printed), b.vocab.all(lasts)
	}
	model.merges = newMerges(len(b.pairs))
	for rank, p := range b.pairs {
		model.merges.set(p.left, p.right, merge{int32(rank), p.id})
	}
	model.joints = sync.OnceValue(model.findJoints)
	return model, nil
}

// bulk is the vocabulary and the merges as encoding/json reads them.
func (m *bpeModel) bulk() (*bulk, error) {
	vocab, err := vocabularyOf(m.Vocab)
	if err != nil {
		return nil, err
	}
	pairs, err := readMerges(m.Merges)
	if err != nil {
		return nil, err
	}
	b := &bulk{vocab: vocab, pairs: make([]symbolPair, len(pairs))}
	for rank, pair := range pairs {
		left, okLeft := vocab.id(pair[0])
		right, okRight := vocab.id(pair[1])
		id, ok := vocab.id(pair[0] + pair[1])
		if !okLeft || !okRight || !ok || pair[0] == "" || pair[1] == "" {
			return nil, fmt.Errorf("merge %d, of %q and %q: a part or the whole is not in the vocabulary", rank, pair[0],
				pair[1])
		}
		b.pairs[rank] = symbolPair{left, right, id}
	}
	return b, nil
}

// check refuses settings that a bpe does not have.
func (m *bpeModel) check(s section, byteLevel bool) error {
	switch {
	case m.Dropout != nil && *m.Dropout != 0:
		return s.errorf("dropout %v is not supported: it makes other tokens of the same text each time", *m.Dropout)
	case m.Prefix != nil && *m.Prefix != "":
		return s.errorf("continuing_subword_prefix %q is not supported yet", *m.Prefix)
	case m.Suffix != nil && *m.Suffix != "" && m.ByteFallback:
		return s.errorf("byte_fallback with an end_of_word_suffix is not supported yet")
	case byteLevel && m.ByteFallback:
		return s.errorf("byte_fallback with a ByteLevel pre_tokenizer is not supported yet")
	}
	return nil
}

// fallbacks are the tokens that mean a byte each, such as <0x0A>, or -1.
func fallbacks(v *vocabulary) *[256]int32 {
	var names [256]string
	for b := range names {
		names[b] = fmt.Sprintf("<0x%02X>", b)
	}
	ids := v.all(names)
	return &ids
}

// findJoints finds the joints: a merge joins the last character of one part and the first of the
// other. A part with an unknown character never occurs.
func (b *bpe) findJoints() *merges {
	if b.suffix != "" {
		return nil
	}
	ends := make([]tokenEnds, len(b.vocab.texts))
	for id, text := range b.vocab.texts {
		ends[id] = b.endsOf(int32(id), text)
	}
	pairs := make(map[[2]int32]bool)
	for i := range b.merges.slots {
		s := &b.merges.slots[i]
		if s.empty() {
			continue
		}
		left, right := ends[s.left()], ends[s.right]
		if left.several || right.several {
			return nil
		}
		if left.last >= 0 && right.first >= 0 {
			pairs[[2]int32{left.last, right.first}] = true
		}
	}
	joints := newMerges(len(pairs))
	for pair := range pairs {
		joints.set(pair[0], pair[1], merge{})
	}
	return joints
}

// tokenEnds are the symbols of the first and the last character of a token, or -1 if they are
// unknown.
type tokenEnds struct {
	first, last int32
	several     bool // a part with this token may be one symbol or several
}

func (b *bpe) endsOf(id int32, text string) tokenEnds {
	e := tokenEnds{first: -1, last: -1, several: id == b.unknown || isFallback(text)}
	_, first := utf8.DecodeRuneInString(text)
	_, last := utf8.DecodeLastRuneInString(text)
	if id, ok := b.vocab.id(text[:first]); ok {
		e.first = id
	}
	if id, ok := b.vocab.id(text[len(text)-last:]); ok {
		e.last = id
	}
	return e
}

func (b *bpe) words() *vocabulary { return b.vocab }

// isFallback reports whether a token means one byte.
func isFallback(token string) bool {
	return len(token) == len("<0x00>") && strings.HasPrefix(token, "<0x") && token[5] == '>'
}

// readMerges reads merges as "a b" or, where the list begins with a list, as
// ["a","b"].
func readMerges(raw json.RawMessage) (pairs [][2]string, _ error) {
	if inner, ok := bytes.CutPrefix(raw, []byte("[")); ok && bytes.HasPrefix(bytes.TrimSpace(inner), []byte("[")) {
		if err := json.Unmarshal(raw, &pairs); err != nil {
			return nil, fmt.Errorf("merges: %w", err)
		}
		return pairs, nil
	}
	var lines []string
	if err := json.Unmarshal(raw, &lines); err != nil {
		return nil, fmt.Errorf("merges: %w", err)
	}
	pairs = make([][2]string, len(lines))
	for i, line := range lines {
		left, right, ok := strings.Cut(line, " ")
		if !ok || strings.Contains(right, " ") {
			return nil, fmt.Errorf("merge %d, %q, is not two symbols", i, line)
		}
		pairs[i] = [2]string{left, right}
	}
	return pairs, nil
}

func (b *bpe) tokens(w *word, text string) []int32 {
	if b.whole {
		if id, ok := b.word(w, text); ok {
			w.ids = append(w.ids[:0], id)
			return w.ids
		}
	}
	return w.recalled(b.vocab, text, b.merged)
}

// merged are the tokens that the merges make of a word.
func (b *bpe) merged(w *word, text string) []int32 {
	if b.byteLevel {
		w.ids = b.byteSymbols(w.ids[:0], text)
	} else {
		w.ids = b.symbols(w.ids[:0], text)
	}
	if len(w.ids) <= longWord || b.joints() == nil {
		return w.merge(b.merges, w.ids)
	}
	return b.mergeParts(w)
}

// word is the id of a whole word.
func (b *bpe) word(w *word, text string) (id int32, ok bool) {
	if len(text) > b.longest {
		return 0, false
	}
	if !b.byteLevel {
		return b.vocab.id(text)
	}
	w.text = w.text[:0]
	for i := range len(text) {
		if c := text[i]; '!' <= c && c <= '~' {
			w.text = append(w.text, c)
		} else {
			w.text = append(w.text, printed[c]...)
		}
	}
	return b.vocab.idOf(w.text)
}

// mergeParts cuts a word where no merge can cross, and merges the parts.
func (b *bpe) mergeParts(w *word) []int32 {
	ids, kept, start, joints := w.ids, 0, 0, b.joints()
	for end := 1; end <= len(ids); end++ {
		if end < len(ids) && joints.has(ids[end-1], ids[end]) {
			continue
		}
		kept += copy(ids[kept:], w.merge(b.merges, ids[start:end]))
		start = end
	}
	return ids[:kept]
}

// byteSymbols appends the symbols of the bytes of text.
func (b *bpe) byteSymbols(ids []int32, text string) []int32 {
	waiting := false
	for i := range len(text) {
		id := b.bytes[text[i]]
		if i == len(text)-1 {
			id = b.lasts[text[i]]
		}
		if id >= 0 {
			ids, waiting = append(b.known(ids, waiting), id), false
		} else {
			ids, waiting = b.wait(ids, waiting), true
		}
	}
	return b.known(ids, waiting)
}

// symbols appends the symbols of the characters of text.
func (b *bpe) symbols(ids []int32, text string) []int32 {
	waiting := false
	for pos := 0; pos < len(text); {
		_, width := runeAt(text, pos)
		char := text[pos : pos+width]
		if pos += width; pos == len(text) {
			char += b.suffix
		}
		id, ok := b.vocab.id(char)
		switch {
		case ok:
			ids, waiting = append(b.known(ids, waiting), id), false
		case b.fallback && b.hasBytes(char):
			// A character that waits keeps waiting during these bytes.
			for i := range len(char) {
				ids = append(ids, b.bytes[char[i]])
			}
		default:
			ids, waiting = b.wait(ids, waiting), true
		}
	}
	return b.known(ids, waiting)
}

// known appends the unknown symbol if a character waits to become it.
func (b *bpe) known(ids []int32, waiting bool) []int32 {
	if waiting && b.unknown >= 0 {
		return append(ids, b.unknown)
	}
	return ids
}

// wait makes one more unknown character wait. If unknown characters do not fuse, it first appends
// the one that waits.
func (b *bpe) wait(ids []int32, waiting bool) []int32 {
	return b.known(ids, waiting && !b.fuse)
}

func (b *bpe) hasBytes(char string) bool {
	for i := range len(char) {
		if b.bytes[char[i]] < 0 {
			return false
		}
	}
	return true
}
