package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// unprinted is the byte that a character of a byte-level vocabulary means, or -1. A byte is the
// character of its number, if Latin-1 has a visible one, or else the next character from U+0100 on.
var unprinted = unprintedTable()

func unprintedTable() (bytes [256 + 68]int16) {
	for i := range bytes {
		bytes[i] = -1
	}
	next := 256
	for b := range int16(256) {
		if b < '!' || b > '~' && b < '¡' || b == '\u00ad' {
			bytes[next] = b
			next++
		} else {
			bytes[b] = b
		}
	}
	return bytes
}

// printed is the inverse of unprinted: the character of each byte.
var printed = printedTable()

func printedTable() (chars [256]string) {
	for r, b := range unprinted {
		if b >= 0 {
			chars[b] = string(rune(r))
		}
	}
	return chars
}

// asPrinted is a splitter that makes the characters of a byte-level vocabulary of a text.
func asPrinted(text string, head int, emit emitter) {
	var out strings.Builder
	for i := range len(text) {
		out.WriteString(printed[text[i]])
	}
	if text != "" {
		emit(out.String(), head)
	}
}

// appendUnprintable appends the text that a byte-level token means, or the token itself if one of
// its characters means no byte.
func appendUnprintable(text []byte, token string) []byte {
	before := len(text)
	for _, r := range token {
		if int(r) >= len(unprinted) || unprinted[r] < 0 {
			return append(text[:before], token...)
		}
		text = append(text, byte(unprinted[r]))
	}
	return text
}

// valid is text with a replacement character for each broken UTF-8 sequence, as long
// as it is valid, and for each byte that begins none, as Rust and Python do it.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var out strings.Builder
	out.Grow(len(text) + 8)
	for text != "" {
		r, width := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && width == 1 {
			width = broken(text)
			out.WriteRune(utf8.RuneError)
		} else {
			out.WriteString(text[:width])
		}
		text = text[width:]
	}
	return out.String()
}

// broken is the length of the longest start of text that is also the start of a
// UTF-8 sequence, and at least 1.
func broken(text string) int {
	for width := min(3, len(text)); width > 1; width-- {
		if !utf8.FullRuneInString(text[:width]) {
			return width
		}
	}
	return 1
}
