package tokenizer

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A bertNormalizer cleans a text as BERT's own program does.
type bertNormalizer struct {
	Type string `json:"type"`
	// CleanText leaves out control characters, and makes a space of all white space.
	CleanText bool `json:"clean_text"`
	// ChineseChars puts spaces around ideographs.
	ChineseChars bool `json:"handle_chinese_chars"`
	// StripAccents is as Lowercase if it is null.
	StripAccents *bool `json:"strip_accents,omitzero"`
	Lowercase    bool  `json:"lowercase"`
}

func newBertNormalizer(s section) (normalizer, error) {
	var b bertNormalizer
	err := s.read(&b)
	b.StripAccents = cmp.Or(b.StripAccents, &b.Lowercase)
	return rewriting(b.normalize), err
}

func (b *bertNormalizer) normalize(text string) string {
	if ascii(text) {
		return b.normalizeASCII(text)
	}
	if b.CleanText {
		text = strings.Map(cleaned, text)
	}
	if b.ChineseChars {
		text = apart(text, isIdeograph)
	}
	if *b.StripAccents {
		text = withoutAccents(canonical(norm.NFD)(text))
	}
	if b.Lowercase {
		text = lowercase(text)
	}
	return text
}

var withoutAccents = without(isAccent)

// normalizeASCII is normalize for a text without accents and ideographs.
func (b *bertNormalizer) normalizeASCII(text string) string {
	var out []byte // nil as long as it is text
	for i := range len(text) {
		c := text[i]
		r := rune(c)
		if b.CleanText {
			r = cleaned(r)
		}
		if b.Lowercase && 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		if out == nil && r == rune(c) {
			continue
		}
		if out == nil {
			out = append(make([]byte, 0, len(text)), text[:i]...)
		}
		if r >= 0 {
			out = append(out, byte(r))
		}
	}
	if out == nil {
		return text
	}
	return string(out)
}

// cleaned is a rune of a text that is cleaned, or -1 if it is left out.
func cleaned(r rune) rune {
	switch {
	case r == '\t' || r == '\n' || r == '\r':
		return ' '
	case r < utf8.RuneSelf:
		if r < ' ' || r == '\x7f' {
			return -1
		}
		return r
	case r == utf8.RuneError || isControl(r):
		return -1
	case unicode.IsSpace(r):
		return ' '
	}
	return r
}

// apart puts a space before and after each rune of a class.
func apart(text string, is func(rune) bool) string {
	if strings.IndexFunc(text, is) < 0 {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if is(r) {
			out.WriteByte(' ')
			out.WriteRune(r)
			out.WriteByte(' ')
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// isIdeograph reports whether BERT takes r for a Chinese character. It leaves out some of extension
// E, as Hugging Face's library does.
func isIdeograph(r rune) bool {
	for _, block := range [...][2]rune{
		{0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xf900, 0xfaff},
		{0x20000, 0x2a6df}, {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf}, {0x2f800, 0x2fa1f},
	} {
		if block[0] <= r && r <= block[1] {
			return true
		}
	}
	return false
}
