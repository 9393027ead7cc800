// Package screen lays out text for a terminal: its width, its colours, and lines that fit.
//
// A Line is Spans, and the Tone of a Span says what it means, not which colour it has. So
// the same lines go to a terminal in colour, to a file without, and into a picture.
package screen

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// A Screen is what text is shown on. The zero Screen is a file or a pipe: lines are as
// long as they are, and nothing but text is written.
type Screen struct {
	// Width is in columns; 0 sets no limit.
	Width int

	// Color says whether Tones are written as ANSI colours.
	Color bool

	// Rewrites says whether a line can be written over the one before. A dumb terminal shows
	// control characters instead of obeying them.
	Rewrites bool
}

// The width of a terminal that does not tell, and the widest line that is easy to read.
const (
	usualWidth = 80
	mostWidth  = 120
)

// Of is the Screen of w: a terminal is told by its file descriptor, Fd. It has no colours if the
// environment variable NO_COLOR is not empty (no-color.org), or if TERM is dumb.
func Of(w io.Writer) Screen {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return Screen{}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		width = usualWidth
	}
	obeys := os.Getenv("TERM") != "dumb"
	return Screen{Width: width, Color: obeys && os.Getenv("NO_COLOR") == "", Rewrites: obeys}
}

// IsTerminal says whether a screen is one.
func (s Screen) IsTerminal() bool { return s.Width > 0 }

// Readable is the width for text that is wrapped: the screen's, and at most 120
// columns. It is 0 where there is no limit.
func (s Screen) Readable() int { return min(s.Width, mostWidth) }

// Write writes lines, in colour where the screen has it. Their texts are made Clean. A writer that
// lets nothing but text pass must have a method WriteColored for colours.
func (s Screen) Write(w io.Writer, lines ...Line) error {
	var text strings.Builder
	for _, line := range lines {
		for _, span := range line {
			if code := codes[span.Tone]; s.Color && code != "" {
				text.WriteString("\x1b[" + code + "m" + Clean(span.Text) + "\x1b[0m")
				continue
			}
			text.WriteString(Clean(span.Text))
		}
		text.WriteByte('\n')
	}
	if colored, ok := w.(interface{ WriteColored(text string) error }); ok {
		return colored.WriteColored(text.String())
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// Say writes a text of several lines. On a terminal, lines that are longer than Readable are
// wrapped. Further lines of an item of a list stand below its text. Rows of a table, in which
// blanks follow each other, are kept.
func (s Screen) Say(w io.Writer, text string) error {
	if !s.IsTerminal() {
		_, err := io.WriteString(w, CleanLines(text))
		return err
	}
	var out []Line
	for line := range strings.Lines(strings.ReplaceAll(text, "\t", "    ")) {
		line = strings.TrimSuffix(line, "\n")
		body := strings.TrimLeft(line, " ")
		label := line[:len(line)-len(body)]
		if item, ok := strings.CutPrefix(body, "- "); ok {
			label, body = label+"- ", item
		}
		if Width(line) <= s.Readable() || strings.Contains(body, "  ") {
			out = append(out, Line{{Text: line}})
			continue
		}
		out = append(out, Item(Span{Text: label}, len(label), s.Readable(), Span{Text: body})...)
	}
	return s.Write(w, out...)
}
