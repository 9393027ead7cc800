package tokenizer

import (
	"unicode"
	"unicode/utf8"
)

// Hugging Face's library has the categories of old versions of Unicode: version 8 for punctuation,
// for control characters and for the accents of BERT, and version 9 for the marks of StripAccents.
// Below are the marks, punctuation and format characters that came later. Where a function names a
// rune, its category has changed.
//
// Source: DerivedAge.txt of the Unicode Character Database, version 15.
var (
	since9 = &unicode.RangeTable{
		R16: []unicode.Range16{
			{0x8d4, 0x8e2, 1}, {0x1dfb, 0x1dfb, 1}, {0x2e43, 0x2e44, 1}, {0xa8c5, 0xa8c5, 1},
		},
		R32: []unicode.Range32{
			{0x1123e, 0x1123e, 1}, {0x11435, 0x1144f, 1}, {0x1145b, 0x1145d, 1}, {0x11660, 0x1166c, 1}, {0x11c2f, 0x11cb6, 1},
			{0x1e000, 0x1e02a, 1},
			{0x1e944, 0x1e95f, 1},
		},
	}
	since10 = &unicode.RangeTable{
		R16: []unicode.Range16{
			{0x61d, 0x61d, 1}, {0x7fd, 0x7fd, 1}, {0x890, 0x8d3, 1}, {0x9fd, 0x9fe, 1}, {0xa76, 0xa76, 1}, {0xafa, 0xaff, 1},
			{0xb55, 0xb55, 1}, {0xc04, 0xc3c, 1}, {0xc77, 0xc77, 1}, {0xc84, 0xc84, 1}, {0xcf3, 0xd00, 1}, {0xd3b, 0xd3c, 1},
			{0xd81, 0xd81, 1}, {0xeba, 0xeba, 1}, {0xece, 0xece, 1}, {0x1715, 0x1715, 1}, {0x180f, 0x180f, 1},
			{0x1abf, 0x1ace, 1},
			{0x1b7d, 0x1b7e, 1}, {0x1cf7, 0x1cf7, 1}, {0x1df6, 0x1dfa, 1}, {0x2e45, 0x2e5d, 1}, {0xa82c, 0xa82c, 1},
			{0xa8ff, 0xa8ff, 1},
		},
		R32: []unicode.Range32{
			{0x10d24, 0x10f89, 1}, {0x11070, 0x11074, 1}, {0x110c2, 0x110cd, 1}, {0x11145, 0x11146, 1}, {0x111ce, 0x111cf, 1},
			{0x11241, 0x11241, 1},
			{0x1133b, 0x1133b, 1}, {0x1145a, 0x1145a, 1}, {0x1145e, 0x1145e, 1}, {0x116b9, 0x116b9, 1}, {0x1182c, 0x11b09, 1},
			{0x11d31, 0x11fff, 1},
			{0x12ff1, 0x13455, 1}, {0x16e97, 0x16f4f, 1}, {0x16f7f, 0x16f87, 1}, {0x16fe2, 0x16ff1, 1}, {0x1cf00, 0x1cf46, 1},
			{0x1e08f, 0x1e4ef, 1},
		},
	}
)

// isPunctuation reports whether r is punctuation, or one of ASCII's symbols.
func isPunctuation(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return '!' <= r && r <= '/' || ':' <= r && r <= '@' || '[' <= r && r <= '`' || '{' <= r && r <= '~'
	case r == 0x166d || r == 0x111c9:
		return true
	}
	return unicode.IsPunct(r) && !unicode.In(r, since9, since10)
}

// isAccent reports whether r is a mark that takes no space.
func isAccent(r rune) bool {
	switch r {
	case 0x1734:
		return true
	case 0x1885, 0x1886, 0xa9bd, 0x111c9:
		return false
	}
	return unicode.Is(unicode.Mn, r) && !unicode.In(r, since9, since10)
}

// isMark reports whether r is a mark.
func isMark(r rune) bool {
	switch r {
	case 0x1cf2, 0x1cf3:
		return true
	case 0x111c9:
		return false
	}
	return unicode.IsMark(r) && !unicode.Is(since10, r)
}

// isControl reports whether r is a control or a format character, or one for private use.
func isControl(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) && !unicode.In(r, since9, since10)
}
