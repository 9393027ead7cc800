package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/servebench/servebench/report/screen"
)

// A Talk is a terminal, or another writer, for text and for lines of progress that are
// rewritten. Text begins on a new line, and later progress goes on below it. Text cannot
// command the terminal: it is made clean, as in package screen. The methods of a Talk are
// safe for concurrent use.
type Talk struct {
	w io.Writer

	mu    sync.Mutex
	lines int // of progress; the cursor is at the end of the last one
}

// NewTalk is a Talk on w: w itself, if it is one.
func NewTalk(w io.Writer) *Talk {
	if t, ok := w.(*Talk); ok {
		return t
	}
	return &Talk{w: w}
}

// Write writes text, which should end with a line break.
func (t *Talk) Write(text []byte) (int, error) {
	if err := t.WriteColored(screen.CleanLines(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// WriteColored writes text as it is. Package screen uses it for text with colours.
func (t *Talk) WriteColored(text string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lines > 0 {
		t.lines = 0
		text = "\n" + text
	}
	_, err := io.WriteString(t.w, text)
	return err
}

// Fd is the file descriptor of a Talk on a file, by which others see that it is a terminal,
// and an invalid one otherwise.
func (t *Talk) Fd() uintptr {
	if f, ok := t.w.(*os.File); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// size is the width and the height of the terminal, 80 and 24 if it does not tell.
func (t *Talk) size() (columns, rows int) {
	if columns, rows, err := term.GetSize(int(t.Fd())); err == nil && columns > 0 && rows > 0 {
		return columns, rows
	}
	return 80, 24
}

// draw writes lines of progress over the lines before, and leaves them if they are the last.
func (t *Talk) draw(lines []string, last bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var text strings.Builder
	if t.lines > 1 {
		fmt.Fprintf(&text, "\x1b[%dA", t.lines-1)
	}
	if t.lines > len(lines) {
		text.WriteString("\r\x1b[J") // fewer lines do not cover the ones before
	}
	for i, line := range lines {
		if i > 0 {
			text.WriteByte('\n')
		}
		text.WriteString("\r\x1b[K" + line)
	}
	t.lines = len(lines)
	if last {
		t.lines = 0
		text.WriteByte('\n')
	}
	io.WriteString(t.w, text.String())
}
