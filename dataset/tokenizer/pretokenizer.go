package tokenizer

import (
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

// preTokenizerKinds are the kinds of pre-tokenizers that a document may have.
func preTokenizerKinds() []kind[preTokenizer] {
	return []kind[preTokenizer]{
		{name: "Sequence", read: newPreTokenizers, but: "anything after ByteLevel"},
		{name: "BertPreTokenizer", read: words(fixed(bertWords))},
		{name: "ByteLevel", read: newByteLevel},
		{name: "CharDelimiterSplit", read: words(newDelimiter)},
		{name: "Digits", read: words(newDigits)},
		{name: "Metaspace", read: words(newMetaspace)},
		{name: "Punctuation", read: words(newPunctuation)},
		{name: "Split", read: words(newSplit), but: "regular expressions with a group that repeats, a look-behind, a " +
			"look-ahead for several characters, a reluctant or a possessive count, or one that can match nothing"},
		{name: "UnicodeScripts", read: words(fixed(splitter(byScript)))},
		{name: "Whitespace", read: words(fixed(whitespace))},
		{name: "WhitespaceSplit", read: words(fixed(removed.at(findSpace)))},
	}
}

// newPreTokenizer reads the pre_tokenizer of a document.
func newPreTokenizer(s section) (preTokenizer, error) {
	if s.absent() {
		return preTokenizer{split: whole}, nil
	}
	return choose(s, preTokenizerKinds())
}

// words makes a pre-tokenizer of what reads a splitter.
func words(read func(section) (splitter, error)) func(section) (preTokenizer, error) {
	return func(s section) (preTokenizer, error) {
		split, err := read(s)
		return preTokenizer{split: split}, err
	}
}

// newPreTokenizers reads a Sequence, in which each cuts the words of the one before.
func newPreTokenizers(s section) (preTokenizer, error) {
	all := preTokenizer{split: whole}
	sections, err := s.list("pretokenizers")
	if err != nil {
		return all, err
	}
	for i, s := range sections {
		one, err := newPreTokenizer(s)
		if err != nil {
			return all, err
		}
		if all.byteLevel {
			return all, s.errorf("a %s after ByteLevel is not supported yet", s.kind())
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

func newByteLevel(s section) (preTokenizer, error) {
	level := struct {
		Type           string `json:"type"`
		AddPrefixSpace bool   `json:"add_prefix_space"`
		TrimOffsets    bool   `json:"trim_offsets"`
		UseRegex       bool   `json:"use_regex,omitzero"`
	}{UseRegex: true}
	if err := s.read(&level); err != nil {
		return preTokenizer{}, err
	}
	split := splitter(whole)
	if level.UseRegex {
		p, err := compile(gpt2)
		if err != nil {
			return preTokenizer{}, s.errorf("%w", err)
		}
		split = isolated.at(p.find)
	}
	if level.AddPrefixSpace {
		split = splitter(func(text string, head int, emit emitter) {
			if !strings.HasPrefix(text, " ") {
				text, head = " "+text, longer(head, 1)
			}
			emit(text, head)
		}).then(split)
	}
	return preTokenizer{split: split, byteLevel: true}, nil
}

// bertWords cuts at white space, and makes a word of each punctuation rune.
var bertWords = removed.at(findSpace).then(isolated.at(one(isPunctuation)))

// whitespace cuts at white space, and between word runes and others.
var whitespace = removed.at(findSpace).then(contiguous.at(one(inWord)))

func newPunctuation(s section) (splitter, error) {
	punctuation := struct {
		Type     string   `json:"type"`
		Behavior behavior `json:"behavior,omitzero"`
	}{Behavior: isolated}
	if err := s.read(&punctuation); err != nil {
		return nil, err
	}
	return punctuation.Behavior.splitter(s, one(isPunctuation), false)
}

func newDelimiter(s section) (splitter, error) {
	var delimiter struct {
		Type string `json:"type"`
		At   string `json:"delimiter"`
	}
	if err := s.read(&delimiter); err != nil {
		return nil, err
	}
	if utf8.RuneCountInString(delimiter.At) != 1 {
		return nil, s.errorf("delimiter %q is not one character", delimiter.At)
	}
	return removed.at(literal(delimiter.At)), nil
}

func newDigits(s section) (splitter, error) {
	var digits struct {
		Type       string `json:"type"`
		Individual bool   `json:"individual_digits"`
	}
	if err := s.read(&digits); err != nil {
		return nil, err
	}
	if digits.Individual {
		return isolated.at(one(unicode.IsNumber)), nil
	}
	return contiguous.at(one(unicode.IsNumber)), nil
}

// A metaspace replaces each space by a mark, and puts one before the text.
type metaspace struct {
	Type        string `json:"type"`
	Replacement string `json:"replacement"`
	// AddPrefixSpace is in older files, which may lack PrependScheme.
	AddPrefixSpace *bool   `json:"add_prefix_space,omitzero"`
	PrependScheme  string  `json:"prepend_scheme,omitzero"`
	Split          *bool   `json:"split,omitzero"`   // true if it is null
	Text           *string `json:"str_rep,omitzero"` // the replacement again, without effect
}

func readMetaspace(s section) (metaspace, error) {
	m := metaspace{PrependScheme: "always"}
	if err := s.read(&m); err != nil {
		return m, err
	}
	switch m.PrependScheme {
	case "always", "first", "never":
	default:
		return m, s.errorf("prepend_scheme %q is not supported yet", m.PrependScheme)
	}
	if m.AddPrefixSpace != nil && !*m.AddPrefixSpace && m.PrependScheme != "never" {
		return m, s.errorf("add_prefix_space false needs the prepend_scheme never, as in Hugging Face's library")
	}
	if utf8.RuneCountInString(m.Replacement) != 1 {
		return m, s.errorf("replacement %q is not one character", m.Replacement)
	}
	return m, nil
}

func newMetaspace(s section) (splitter, error) {
	m, err := readMetaspace(s)
	if err != nil {
		return nil, err
	}
	mark := splitter(func(text string, head int, emit emitter) {
		spaces := strings.Count(text[:max(0, min(head, len(text)))], " ")
		text, head = strings.ReplaceAll(text, " ", m.Replacement), longer(head, spaces*(len(m.Replacement)-1))
		wanted := m.PrependScheme == "always" || m.PrependScheme == "first" && head > 0
		if wanted && !strings.HasPrefix(text, m.Replacement) {
			text, head = m.Replacement+text, longer(head, len(m.Replacement))
		}
		emit(text, head)
	})
	if m.Split != nil && !*m.Split {
		return mark, nil
	}
	return mark.then(mergedNext.at(literal(m.Replacement))), nil
}

// longer is a head after its text has grown by so many bytes.
func longer(head, by int) int {
	if head <= 0 {
		return head
	}
	return head + by
}

var findSpace = one(unicode.IsSpace)

// one finds a rune of a class.
func one(is func(rune) bool) finder {
	return func(text string) (start, end int) {
		for start < len(text) {
			r, width := runeAt(text, start)
			if is(r) {
				return start, start + width
			}
			start += width
		}
		return start, start
	}
}
