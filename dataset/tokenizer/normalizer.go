package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A normalizer rewrites a text before it is cut into words.
type normalizer func(text string) string

func unchanged(text string) string { return text }

// normalizerKinds are the kinds of normalizers that a document may have.
func normalizerKinds() []kind[normalizer] {
	return []kind[normalizer]{
		{name: "Sequence", read: newNormalizers},
		{name: "BertNormalizer", read: newBertNormalizer},
		{name: "Lowercase", read: fixed(normalizer(lowercase))},
		{name: "NFC", read: fixed(canonical(norm.NFC))},
		{name: "NFD", read: fixed(canonical(norm.NFD))},
		{name: "NFKC", read: fixed(canonical(norm.NFKC))},
		{name: "NFKD", read: fixed(canonical(norm.NFKD))},
		{name: "Nmt", read: fixed(normalizer(nmt))},
		{name: "Precompiled", read: newPrecompiled},
		{name: "Prepend", read: newPrepend},
		{name: "Replace", read: newReplaceNormalizer, but: "regular expressions: as in Split"},
		{name: "Strip", read: newStrip},
		{name: "StripAccents", read: fixed(without(isMark))},
	}
}

// newNormalizer reads the normalizer of a document.
func newNormalizer(s section) (normalizer, error) {
	if s.absent() {
		return unchanged, nil
	}
	return choose(s, normalizerKinds())
}

// fixed reads a section that has a type and nothing else.
func fixed[T any](value T) func(section) (T, error) {
	return func(s section) (T, error) {
		return value, s.read(new(struct {
			Type string `json:"type"`
		}))
	}
}

func newNormalizers(s section) (normalizer, error) {
	all, err := readAll(s, "normalizers", newNormalizer)
	return func(text string) string {
		for _, normalize := range all {
			text = normalize(text)
		}
		return text
	}, err
}

func newPrepend(s section) (normalizer, error) {
	var prepend struct {
		Type    string `json:"type"`
		Prepend string `json:"prepend"`
	}
	err := s.read(&prepend)
	return func(text string) string {
		if text == "" {
			return text
		}
		return prepend.Prepend + text
	}, err
}

func newReplaceNormalizer(s section) (normalizer, error) {
	replace, err := newReplace(s)
	return replace, err
}

// newReplace reads a Replace, which is a normalizer and a decoder.
func newReplace(s section) (func(string) string, error) {
	var replace struct {
		Type    string `json:"type"`
		Pattern needle `json:"pattern"`
		Content string `json:"content"`
	}
	if err := s.read(&replace); err != nil {
		return nil, err
	}
	if replace.Pattern.String != "" {
		return func(text string) string {
			return strings.ReplaceAll(text, replace.Pattern.String, replace.Content)
		}, nil
	}
	p, err := compile(replace.Pattern.Regex)
	if err != nil {
		return nil, s.errorf("%w", err)
	}
	return func(text string) string {
		if start, _ := p.find(text); start == len(text) {
			return text
		}
		var out strings.Builder
		finder(p.find).matches(text, func(part string, match bool) {
			if match {
				part = replace.Content
			}
			out.WriteString(part)
		})
		return out.String()
	}, nil
}

func newStrip(s section) (normalizer, error) {
	var strip struct {
		Type  string `json:"type"`
		Left  bool   `json:"strip_left"`
		Right bool   `json:"strip_right"`
	}
	err := s.read(&strip)
	return func(text string) string {
		if strip.Left {
			text = strings.TrimLeftFunc(text, unicode.IsSpace)
		}
		if strip.Right {
			text = strings.TrimRightFunc(text, unicode.IsSpace)
		}
		return text
	}, err
}

// without leaves out the runes of a class. None of them is ASCII.
func without(is func(rune) bool) normalizer {
	return func(text string) string {
		return strings.Map(func(r rune) rune {
			if r >= utf8.RuneSelf && is(r) {
				return -1
			}
			return r
		}, text)
	}
}

// lowercase is the lower case of each rune, whatever is around it: a final sigma is none. One rune
// becomes two, İ.
func lowercase(text string) string {
	return strings.ToLower(strings.ReplaceAll(text, "İ", "i\u0307"))
}

// nmt is the cleaning that SentencePiece does before NFKC: it leaves out control characters, and
// takes more for spaces than Unicode does.
func nmt(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\f' || r == '\r', r == '\u1680', '\u200b' <= r && r <= '\u200f', r == '\u2028' || r == '\u2029',
			r == '▁', r == '\ufeff', r == '\ufffd':
			return ' '
		case '\x01' <= r && r < ' ', r == '\x7f', r == '\u008f', r == '\u009f':
			return -1
		}
		return r
	}, text)
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
