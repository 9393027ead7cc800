package screen

import "strings"

// A Tone is what a Span means.
type Tone int

const (
	Plain  Tone = iota
	Good        // fine
	Doubt       // to be looked into
	Bad         // wrong
	Strong      // to be read first
	Faint       // to be read last
)

// codes are the ANSI codes of the Tones, from the 16 colours that terminals have and
// their users choose.
var codes = map[Tone]string{Good: "1;32", Doubt: "1;33", Bad: "1;31", Strong: "1", Faint: "2"}

// A Span is text of one Tone, without line breaks.
type Span struct {
	Text string
	Tone Tone
}

// A Line is Spans, one behind the other.
type Line []Span

// String is the text of the line.
func (l Line) String() string {
	var text strings.Builder
	for _, span := range l {
		text.WriteString(span.Text)
	}
	return text.String()
}

// Item is a label followed by a text, in lines of at most width columns: the label has indent
// columns, and further lines begin with as many blanks. A width of 0 makes one line. Words are
// kept whole, even if they are wider than that, with a blank between two Spans.
func Item(label Span, indent, width int, text ...Span) []Line {
	blank := indent - Width(label.Text)
	line, column := Line{label, {Text: strings.Repeat(" ", max(0, blank))}}, max(indent, indent-blank)
	var lines []Line
	begun := false // the line has a word
	for _, span := range text {
		for word := range strings.FieldsFuncSeq(units.Replace(span.Text), isBlank) {
			word = strings.ReplaceAll(word, noBreak, " ")
			n := Width(word)
			if begun && width > 0 && column+1+n > width {
				lines = append(lines, line)
				line, column, begun = Line{{Text: strings.Repeat(" ", indent)}}, indent, false
			}
			if begun {
				word, n = " "+word, n+1
			}
			line, column, begun = line.with(Span{word, span.Tone}), column+n, true
		}
	}
	return append(lines, line)
}

// isBlank says whether a character separates words.
func isBlank(r rune) bool { return strings.ContainsRune(" \t\r\n", r) }

// noBreak is a blank that does not end a line, for example before a unit.
const noBreak = "\u00a0"

// Whole is a text that an Item keeps in one line, with all its blanks: it is one word there.
func Whole(text string) string { return strings.ReplaceAll(text, " ", noBreak) }

var units = strings.NewReplacer(" %", noBreak+"%", " ms", noBreak+"ms")

// with is the line and a Span, which is joined to a previous one of the same Tone.
func (l Line) with(span Span) Line {
	if last := len(l) - 1; l[last].Tone == span.Tone {
		l[last].Text += span.Text
		return l
	}
	return append(l, span)
}
