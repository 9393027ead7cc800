package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A normalizer rewrites a text before it is cut into words. The first head bytes of the text come
// from the first character of what is encoded; it returns how many do so of the new text.
type normalizer func(text string, head int) (string, int)

// rewriting makes a normalizer of what rewrites a text from left to right.
func rewriting(rewrite func(string) string) normalizer {
	return func(text string, head int) (string, int) { return rewrite(text), len(rewrite(text[:head])) }
}

func unchanged(text string, head int) (string, int) { return text, head }

// normalizerKinds are the kinds of normalizers that a document may have.
func normalizerKinds() []kind[normalizer] {
	return []kind[normalizer]{
		{name: "Sequence", read: newNormalizers},
		{name: "BertNormalizer", read: newBertNormalizer},
		{name: "Lowercase", read: fixed(rewriting(lowercase))},
		{name: "NFC", read: fixed(rewriting(canonical(norm.NFC)))},
		{name: "NFD", read: fixed(rewriting(canonical(norm.NFD)))},
		{name: "NFKC", read: fixed(rewriting(canonical(norm.NFKC)))},
		{name: "NFKD", read: fixed(rewriting(canonical(norm.NFKD)))},
		{name: "Nmt", read: fixed(rewriting(nmt))},
		{name: "Precompiled", read: newPrecompiled},
		{name: "Prepend", read: newPrepend},
		{name: "Replace", read: newReplaceNormalizer, but: "regular expressions: as in Split"},
		{name: "Strip", read: newStrip},
		{name: "StripAccents", read: fixed(rewriting(without(isMark)))},
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
	return func(text string, head int) (string, int) {
		for _, normalize := range all {
			text, head = normalize(text, head)
			head = wholeRunes(text, head)
		}
		return text, head
	}, err
}

// wholeRunes is a head that ends with a rune: composing may have made one of several.
func wholeRunes(text string, head int) int {
	head = min(head, len(text))
	for head > 0 && head < len(text) && !utf8.RuneStart(text[head]) {
		head++
	}
	return head
}

func newPrepend(s section) (normalizer, error) {
	var prepend struct {
		Type    string `json:"type"`
		Prepend string `json:"prepend"`
	}
	err := s.read(&prepend)
	if err == nil && prepend.Prepend == "" {
		err = s.errorf("prepend is empty, which is not supported")
	}
	return func(text string, head int) (string, int) {
		if text == "" {
			return text, head
		}
		return prepend.Prepend + text, longer(head, len(prepend.Prepend))
	}, err
}

func newReplaceNormalizer(s section) (normalizer, error) {
	r, err := newReplace(s)
	return r.normalize, err
}

// A replacement replaces what it finds.
type replacement struct {
	find finder
	by   string
}

// newReplace reads a Replace, which is a normalizer and a decoder.
func newReplace(s section) (*replacement, error) {
	var replace struct {
		Type    string `json:"type"`
		Pattern needle `json:"pattern"`
		Content string `json:"content"`
	}
	if err := s.read(&replace); err != nil {
		return nil, err
	}
	find, err := replace.Pattern.finder(s)
	return &replacement{find, replace.Content}, err
}

func (r *replacement) normalize(text string, head int) (string, int) {
	start, end := r.find(text)
	switch {
	case start == len(text):
		return text, head
	case start < head && end > head: // what replaces it counts for its last character
		head = start
	default:
		head = len(r.replace(text[:head]))
	}
	return r.replace(text), head
}

func (r *replacement) replace(text string) string {
	if start, _ := r.find(text); start == len(text) {
		return text
	}
	var out strings.Builder
	r.find.matches(text, func(part string, match bool) {
		if match {
			part = r.by
		}
		out.WriteString(part)
	})
	return out.String()
}

func newStrip(s section) (normalizer, error) {
	var strip struct {
		Type  string `json:"type"`
		Left  bool   `json:"strip_left"`
		Right bool   `json:"strip_right"`
	}
	err := s.read(&strip)
	return func(text string, head int) (string, int) {
		if strip.Left {
			rest := strings.TrimLeftFunc(text, unicode.IsSpace)
			text, head = rest, head-(len(text)-len(rest))
		}
		if strip.Right {
			text = strings.TrimRightFunc(text, unicode.IsSpace)
		}
		return text, max(0, min(head, len(text)))
	}, err
}

// without leaves out the runes of a class. None of them is ASCII.
func without(is func(rune) bool) func(string) string {
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
		case r == '\t' || r == '\n' || r == '\f' || r == '\r', r == '\u1680', '\u200b' <= r && r <= '\u200f',
			r == '\u2028' || r == '\u2029',
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
