package report

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// A grid is a plain table under a head of two lines. The first column is aligned
// to the left, where it holds names.
type grid struct {
	names bool // the first column does
	rows  [][]string
}

// head begins the grid with its columns: each the two lines of its head, as
// "TTFT|mean ms".
func (g *grid) head(columns ...string) {
	upper, lower := make([]string, len(columns)), make([]string, len(columns))
	for i, head := range columns {
		upper[i], lower[i], _ = strings.Cut(head, "|")
	}
	g.rows = [][]string{upper, lower}
}

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

// write puts two blanks between columns that are as wide as they must be.
func (g *grid) write(b *bytes.Buffer) {
	widths := make([]int, len(g.rows[0]))
	for _, row := range g.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range g.rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				line.WriteString("  ")
			}
			if i == 0 && g.names {
				line.WriteString(cell + pad)
			} else {
				line.WriteString(pad + cell)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
}

// orDash is a text, or a dash for a number that is not known.
func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
