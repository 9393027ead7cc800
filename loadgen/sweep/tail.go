package sweep

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode"
)

const (
	tailLines = 12
	tailBytes = 4 << 10
)

// tail is the end of what the server printed, as more lines of an error.
func (p *process) tail() string {
	f, err := os.Open(p.log)
	if err != nil {
		return ""
	}
	defer f.Close()
	from := p.from
	if info, err := f.Stat(); err == nil {
		from = max(from, info.Size()-tailBytes)
	}
	text, err := io.ReadAll(io.NewSectionReader(f, from, tailBytes))
	printed := ending(text)
	if err != nil || printed == "" {
		return fmt.Sprintf("; it has printed nothing to %s", p.log)
	}
	return fmt.Sprintf("; %s ends:\n  %s", p.log, printed)
}

// ending is the end of what was printed, on a few lines.
func ending(printed []byte) string {
	lines := strings.Split(readable(string(printed[max(0, len(printed)-tailBytes):])), "\n")
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n  ")
}

// controlSequence is what sets colours and moves the cursor of a terminal, or its
// title, as ECMA-48 has it.
var controlSequence = regexp.MustCompile("\x1b(\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)?)")

// readable is what a program printed, as lines for any reader: what a progress bar
// has written over is a line, too.
func readable(printed string) string {
	text := controlSequence.ReplaceAllString(strings.ToValidUTF8(printed, "\uFFFD"), "")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, text))
}
