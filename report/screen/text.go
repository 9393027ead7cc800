package screen

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Width is the number of columns that a text takes on a terminal. A wide character, as in Chinese
// or Japanese text, takes two, and a mark that combines with the character before it takes none.
// See Unicode Standard Annex #11.
func Width(text string) (columns int) {
	for _, r := range text {
		switch {
		case r == joiner || r == nonJoiner || unicode.In(r, unicode.Mn, unicode.Me):
		case isWide(r):
			columns += 2
		default:
			columns++
		}
	}
	return columns
}

func isWide(r rune) bool {
	kind := width.LookupRune(r).Kind()
	return kind == width.EastAsianWide || kind == width.EastAsianFullwidth
}

// Characters that change how their neighbours look, but cannot command a terminal.
const (
	softHyphen = '\u00ad'
	nonJoiner  = '\u200c'
	joiner     = '\u200d'
)

// Pad is a text with blanks behind it, so that it takes so many columns at least.
func Pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-Width(text)))
}

// Cut is a text in at most so many columns. It ends in an ellipsis if not all of it fits.
func Cut(text string, columns int) string {
	if Width(text) <= columns {
		return text
	}
	if columns < 1 {
		return ""
	}
	taken := 0
	for i, r := range text {
		if taken += Width(string(r)); taken >= columns {
			return text[:i] + "…"
		}
	}
	return text
}

// Wrap writes a text after a label of so many characters, in lines of a width, and a line end.
func Wrap(b *bytes.Buffer, label, width int, text string) {
	column := label
	for word := range strings.FieldsSeq(text) {
		n := 1 + Width(word)
		if column+n > width {
			fmt.Fprintf(b, "\n%*s", label, "")
			column = label
		}
		b.WriteString(" " + word)
		column += n
	}
	b.WriteByte('\n')
}

// Clean is a text in one line, without characters that could command a terminal, such as the
// escape that changes its colours or its title. Each of them is shown as "�".
func Clean(text string) string { return strings.Map(clean, text) }

// CleanLines is like Clean, but keeps line breaks and tabs.
func CleanLines(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return clean(r)
	}, text)
}

func clean(r rune) rune {
	if r == softHyphen || r == nonJoiner || r == joiner || !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
		return r
	}
	return unicode.ReplacementChar
}
