package tokenizer

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// gpt2 is the pattern of a ByteLevel pre-tokenizer that uses its own.
const gpt2 = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

// A preTokenizer cuts text into words.
type preTokenizer struct {
	split     splitter
	byteLevel bool // words are looked up in the vocabulary byte by byte
}

// newPreTokenizer reads the pre_tokenizer of a document.
func newPreTokenizer(raw json.RawMessage) (preTokenizer, error) {
	p := preTokenizer{split: whole}
	if absent(raw) {
		return p, nil
	}
	var err error
	switch typeOf(raw) {
	case "Sequence":
		return newPreTokenizers(raw)
	case "ByteLevel":
		p.byteLevel = true
		p.split, err = newByteLevel(raw)
	case "Split":
		p.split, err = newSplit(raw)
	case "Digits":
		p.split, err = newDigits(raw)
	case "Metaspace":
		p.split, err = newMetaspace(raw)
	case "WhitespaceSplit":
		p.split, err = removed.splitter(findSpace, false)
	default:
		return p, unsupported("pre_tokenizer", raw)
	}
	if err != nil {
		err = fmt.Errorf("pre_tokenizer: %w", err)
	}
	return p, err
}

// newPreTokenizers reads a Sequence, in which each cuts the words of the one before.
func newPreTokenizers(raw json.RawMessage) (preTokenizer, error) {
	all := preTokenizer{split: whole}
	var sequence struct {
		Type          string            `json:"type"`
		PreTokenizers []json.RawMessage `json:"pretokenizers"`
	}
	if err := decode(raw, &sequence); err != nil {
		return all, fmt.Errorf("pre_tokenizer: %w", err)
	}
	for i, raw := range sequence.PreTokenizers {
		one, err := newPreTokenizer(raw)
		if err != nil {
			return all, err
		}
		if all.byteLevel {
			return all, fmt.Errorf("pre_tokenizer: a %s after ByteLevel is not supported yet", typeOf(raw))
		}
		all.byteLevel = one.byteLevel
		if i == 0 {
			all.split = one.split
		} else {
			all.split = all.split.then(one.split)
		}
	}
	return all, nil
}

func newByteLevel(raw json.RawMessage) (splitter, error) {
	level := struct {
		Type           string `json:"type"`
		AddPrefixSpace bool   `json:"add_prefix_space"`
		TrimOffsets    bool   `json:"trim_offsets"`
		UseRegex       bool   `json:"use_regex"`
	}{UseRegex: true}
	if err := decode(raw, &level); err != nil {
		return nil, err
	}
	split := splitter(whole)
	if level.UseRegex {
		p, err := compile(gpt2)
		if err != nil {
			return nil, err
		}
		if split, err = isolated.splitter(p.find, false); err != nil {
			return nil, err
		}
	}
	if level.AddPrefixSpace {
		split = splitter(func(text string, first bool, emit emitter) {
			if !strings.HasPrefix(text, " ") {
				text = " " + text
			}
			emit(text, first)
		}).then(split)
	}
	return split, nil
}

func newDigits(raw json.RawMessage) (splitter, error) {
	var digits struct {
		Type       string `json:"type"`
		Individual bool   `json:"individual_digits"`
	}
	if err := decode(raw, &digits); err != nil {
		return nil, err
	}
	source := `\p{N}+`
	if digits.Individual {
		source = `\p{N}`
	}
	p, err := compile(source)
	if err != nil {
		return nil, err
	}
	return isolated.splitter(p.find, false)
}

// A metaspace replaces each space by a mark, and puts one before the text.
type metaspace struct {
	Type           string `json:"type"`
	Replacement    string `json:"replacement"`
	AddPrefixSpace *bool  `json:"add_prefix_space"` // older files have it instead of PrependScheme
	PrependScheme  string `json:"prepend_scheme"`
	Split          bool   `json:"split"`
}

func readMetaspace(raw json.RawMessage) (metaspace, error) {
	m := metaspace{PrependScheme: "always", Split: true}
	if err := decode(raw, &m); err != nil {
		return m, err
	}
	if m.AddPrefixSpace != nil && !*m.AddPrefixSpace {
		m.PrependScheme = "never"
	}
	switch m.PrependScheme {
	case "always", "first", "never":
	default:
		return m, fmt.Errorf("prepend_scheme %q is not supported yet", m.PrependScheme)
	}
	if utf8.RuneCountInString(m.Replacement) != 1 {
		return m, fmt.Errorf("replacement %q is not one character", m.Replacement)
	}
	return m, nil
}

func newMetaspace(raw json.RawMessage) (splitter, error) {
	m, err := readMetaspace(raw)
	if err != nil {
		return nil, err
	}
	mark := splitter(func(text string, first bool, emit emitter) {
		text = strings.ReplaceAll(text, " ", m.Replacement)
		wanted := m.PrependScheme == "always" || m.PrependScheme == "first" && first
		if wanted && !strings.HasPrefix(text, m.Replacement) {
			text = m.Replacement + text
		}
		emit(text, first)
	})
	if !m.Split {
		return mark, nil
	}
	cut, err := mergedNext.splitter(literal(m.Replacement), false)
	return mark.then(cut), err
}

// findSpace finds a white space rune.
func findSpace(text string) (start, end int) {
	for start < len(text) {
		r, width := runeAt(text, start)
		if unicode.IsSpace(r) {
			return start, start + width
		}
		start += width
	}
	return start, start
}
