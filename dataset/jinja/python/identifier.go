package python

import (
	"unicode"
	"unicode/utf8"
)

// IsSpace reports whether r is white space in a str.
func IsSpace(r rune) bool {
	return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f
}

// NameAt is the longest run of the characters of names at the start of s.
func NameAt(s string) string {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r) && !(i > 0 && unicode.IsMark(r)) {
			return s[:i]
		}
	}
	return s
}

// IsIdentifier reports whether a run of such characters is a name: it begins with a letter or _.
func IsIdentifier(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	return first == '_' || unicode.IsLetter(first)
}
