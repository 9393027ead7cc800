package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A bpe is a byte-pair model. It starts with the characters of a word, or its bytes,
// and merges neighbours while there is a merge for them.
type bpe struct {
	vocab     map[string]int32 // by the text that words are made of
	whole     bool             // a word of the vocabulary is one token, whatever its merges
	merges    *merges
	byteLevel bool
	bytes     [256]int32 // symbol of each byte, if byteLevel, or its fallback; -1 if missing
	fallback  bool       // a character that is no symbol becomes its bytes
	unknown   int32      // symbol of any other unknown character; -1 drops it
	fuse      bool       // unknown characters side by side become one
	// joints has the pairs of symbols that a merge may join. A word can be cut between two
	// neighbours whose pair is missing: no merge crosses them.
	joints *merges
}

// A bpeModel is a BPE model as a file has it.
type bpeModel struct {
	Type         string           `json:"type"`
	Dropout      *float64         `json:"dropout"`
	Unknown      *string          `json:"unk_token"`
	Prefix       *string          `json:"continuing_subword_prefix"`
	Suffix       *string          `json:"end_of_word_suffix"`
	FuseUnknown  bool             `json:"fuse_unk"`
	ByteFallback bool             `json:"byte_fallback"`
	IgnoreMerges bool             `json:"ignore_merges"`
	Vocab        map[string]int32 `json:"vocab"`
	Merges       json.RawMessage  `json:"merges"`
}

// newBPE reads a model of type BPE. byteLevel is the pre-tokenizer's.
func newBPE(raw json.RawMessage, byteLevel bool) (*bpe, map[string]int32, error) {
	var m bpeModel
	if err := decode(raw, &m); err != nil {
		return nil, nil, err
	}
	if err := m.check(byteLevel); err != nil {
		return nil, nil, err
	}
	b := &bpe{
		vocab: m.Vocab, whole: m.IgnoreMerges, byteLevel: byteLevel,
		fallback: m.ByteFallback, unknown: -1, fuse: m.FuseUnknown,
	}
	if m.Unknown != nil {
		id, ok := m.Vocab[*m.Unknown]
		if !ok {
			return nil, nil, fmt.Errorf("unk_token %q is not in the vocabulary", *m.Unknown)
		}
		b.unknown = id
	}
	pairs, err := readMerges(m.Merges)
	if err != nil {
		return nil, nil, err
	}
	if byteLevel {
		b.vocab = make(map[string]int32, len(m.Vocab))
		for written, id := range m.Vocab {
			if text, ok := unprintable(written); ok {
				b.vocab[text] = id
			}
		}
	}
	b.setBytes()
	return b, m.Vocab, b.setMerges(pairs, m.Vocab)
}

// check refuses settings that a bpe does not have.
func (m *bpeModel) check(byteLevel bool) error {
	switch {
	case m.Dropout != nil && *m.Dropout != 0:
		return fmt.Errorf("dropout is not supported yet")
	case m.Prefix != nil && *m.Prefix != "":
		return fmt.Errorf("continuing_subword_prefix %q is not supported yet", *m.Prefix)
	case m.Suffix != nil && *m.Suffix != "":
		return fmt.Errorf("end_of_word_suffix %q is not supported yet", *m.Suffix)
	case byteLevel && m.ByteFallback:
		return fmt.Errorf("byte_fallback with a ByteLevel pre_tokenizer is not supported yet")
	}
	return nil
}

// setBytes finds the symbols of bytes.
func (b *bpe) setBytes() {
	for i := range b.bytes {
		text := string([]byte{byte(i)})
		if !b.byteLevel {
			text = fmt.Sprintf("<0x%02X>", i)
		}
		id, ok := b.vocab[text]
		if b.bytes[i] = -1; ok {
			b.bytes[i] = id
		}
	}
}

// setMerges fills the tables of pairs, whose rank is their place.
func (b *bpe) setMerges(pairs [][2]string, vocab map[string]int32) error {
	b.merges, b.joints = newMerges(len(pairs)), newMerges(len(pairs))
	for rank, pair := range pairs {
		left, okLeft := vocab[pair[0]]
		right, okRight := vocab[pair[1]]
		id, ok := vocab[pair[0]+pair[1]]
		if !okLeft || !okRight || !ok || pair[0] == "" || pair[1] == "" {
			return fmt.Errorf("merge %d, of %q and %q: a part or the whole is not in the vocabulary", rank, pair[0], pair[1])
		}
		b.merges.set(left, right, merge{int32(rank), id})
		if isFallback(pair[0]) || isFallback(pair[1]) || left == b.unknown || right == b.unknown {
			// Such a part may be one symbol or several.
			b.joints = nil
		}
		if b.joints != nil {
			b.join(pair, vocab)
		}
	}
	return nil
}

// join notes that a merge joins the last character of one part and the first of the other. A part
// with an unknown character never occurs.
func (b *bpe) join(pair [2]string, vocab map[string]int32) {
	_, last := utf8.DecodeLastRuneInString(pair[0])
	_, first := utf8.DecodeRuneInString(pair[1])
	before, okBefore := vocab[pair[0][len(pair[0])-last:]]
	after, okAfter := vocab[pair[1][:first]]
	if okBefore && okAfter {
		b.joints.set(before, after, merge{})
	}
}

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
		if id, ok := b.vocab[text]; ok {
			w.ids = append(w.ids[:0], id)
			return w.ids
		}
	}
	if b.byteLevel {
		w.ids = b.byteSymbols(w.ids[:0], text)
	} else {
		w.ids = b.symbols(w.ids[:0], text)
	}
	if len(w.ids) <= longWord || b.joints == nil {
		return w.merge(b.merges, w.ids)
	}
	return b.mergeParts(w)
}

// mergeParts cuts a word where no merge can cross, and merges the parts.
func (b *bpe) mergeParts(w *word) []int32 {
	ids, kept, start := w.ids, 0, 0
	for end := 1; end <= len(ids); end++ {
		if end < len(ids) && b.joints.slot(ids[end-1], ids[end]).left >= 0 {
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
		if id := b.bytes[text[i]]; id >= 0 {
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
		pos += width
		id, ok := b.vocab[char]
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
