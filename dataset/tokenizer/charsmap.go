package tokenizer

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// A charsmap is the normalizer of a SentencePiece model: it replaces some characters. The
// replacements are in a trie of bytes, a double array, of which each unit has a label, an offset to
// the units below it, and a bit that says whether one of those is a leaf. A leaf has the place of a
// replacement in a text, where a zero byte ends it.
type charsmap struct {
	units        []uint32
	replacements string
	ascii        [utf8.RuneSelf]replaced
}

// replaced is what a text becomes, if it changes.
type replaced struct {
	by string
	ok bool
}

func newPrecompiled(s section) (normalizer, error) {
	var precompiled struct {
		Type string `json:"type"`
		Map  string `json:"precompiled_charsmap"`
	}
	if err := s.read(&precompiled); err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(precompiled.Map)
	if err != nil {
		return nil, s.errorf("precompiled_charsmap: %w", err)
	}
	c, ok := newCharsmap(data)
	if !ok {
		return nil, s.errorf("precompiled_charsmap is not the size of a trie, the trie, and texts")
	}
	return func(text string, head int) (string, int) {
		out := c.normalize(text)
		if head > 0 { // Hugging Face's library counts what follows a character that is left out for it
			head = max(1, len(c.normalize(text[:head])))
		}
		return out, wholeRunes(out, head)
	}, nil
}

func newCharsmap(data []byte) (c *charsmap, ok bool) {
	const width = 4 // bytes of a unit, and of the size
	if len(data) < width {
		return nil, false
	}
	size := int(binary.LittleEndian.Uint32(data)) / width * width
	data = data[width:]
	if size == 0 || size > len(data) || !utf8.Valid(data[size:]) {
		return nil, false
	}
	c = &charsmap{replacements: string(data[size:])}
	for at := 0; at < size; at += width {
		c.units = append(c.units, binary.LittleEndian.Uint32(data[at:]))
	}
	for b := range c.ascii {
		c.ascii[b] = c.find(string(rune(b)))
	}
	return c, true
}

// normalize replaces each character of text. A character of up to five bytes with marks is replaced
// as one if the map has any beginning of it, as in SentencePiece: its marks are then lost.
func (c *charsmap) normalize(text string) string {
	if c.keeps(text) {
		return text
	}
	const short = 6 // bytes
	var out strings.Builder
	out.Grow(len(text))
	for all := graphemes.FromString(text); all.Next(); {
		whole := all.Value()
		if len(whole) < short {
			if r := c.replace(whole); r.ok {
				out.WriteString(r.by)
				continue
			}
		}
		for pos := 0; pos < len(whole); {
			_, width := runeAt(whole, pos)
			char := whole[pos : pos+width]
			if r := c.replace(char); r.ok {
				char = r.by
			}
			out.WriteString(char)
			pos += width
		}
	}
	return out.String()
}

// keeps reports whether text is ASCII and stays as it is.
func (c *charsmap) keeps(text string) bool {
	for i := range len(text) {
		if b := text[i]; b >= utf8.RuneSelf || c.ascii[b].ok || b == '\r' {
			return false
		}
	}
	return true
}

func (c *charsmap) replace(chars string) replaced {
	if len(chars) == 1 {
		return c.ascii[chars[0]]
	}
	return c.find(chars)
}

// find is the replacement of the shortest beginning of chars that has one.
func (c *charsmap) find(chars string) replaced {
	const leaf, label, value = 1 << 8, 1<<31 | 0xff, 1<<31 - 1
	offset := func(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }
	at := offset(c.units[0])
	for i := range len(chars) {
		b := uint32(chars[i])
		at ^= b
		if b == 0 || int(at) >= len(c.units) || c.units[at]&label != b {
			break
		}
		unit := c.units[at]
		if at ^= offset(unit); unit&leaf != 0 && int(at) < len(c.units) {
			return c.text(int(c.units[at] & value))
		}
	}
	return replaced{}
}

// text is the replacement at a place.
func (c *charsmap) text(start int) replaced {
	if start > len(c.replacements) {
		return replaced{}
	}
	by, _, _ := strings.Cut(c.replacements[start:], "\x00")
	return replaced{by, true}
}
