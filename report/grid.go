package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/servebench/servebench/report/screen"
)

// A grid is cells in columns, with the head first. All rows have the same length. Names are aligned
// to the left, numbers to the right.
type grid struct {
	heads int  // rows of the head
	names int  // columns from the left that hold names
	found bool // the last column holds a finding in words
	rows  [][]string
}

// twoLined is a grid with a head of two lines. A bar separates the lines in each text, as
// in "TTFT|mean ms".
func twoLined(names int, columns ...string) *grid {
	g := &grid{heads: 2, names: names, rows: [][]string{make([]string, len(columns)), make([]string, len(columns))}}
	for i, head := range columns {
		g.rows[0][i], g.rows[1][i], _ = strings.Cut(head, "|")
	}
	return g
}

// add adds a row. What comes from outside, such as a label, must not command a terminal.
func (g *grid) add(cells ...string) {
	for i, cell := range cells {
		cells[i] = screen.Clean(cell)
	}
	g.rows = append(g.rows, cells)
}

// left reports whether a column holds names.
func (g *grid) left(column int) bool {
	return column < g.names || g.found && column == len(g.rows[0])-1
}

// widths are the widths of the columns on a terminal.
func (g *grid) widths(least int) []int {
	widths := make([]int, len(g.rows[0]))
	for i := range widths {
		widths[i] = least
		for _, row := range g.rows {
			widths[i] = max(widths[i], screen.Width(row[i]))
		}
	}
	return widths
}

// padded is a cell in the width of its column.
func (g *grid) padded(cell string, column, width int) string {
	if g.left(column) {
		return screen.Pad(cell, width)
	}
	return strings.Repeat(" ", max(0, width-screen.Width(cell))) + cell
}

// text writes the columns two blanks apart. It leaves out columns that are empty below
// their head.
func (g *grid) text(b *bytes.Buffer) {
	widths := g.widths(0)
	for _, row := range g.rows {
		var line strings.Builder
		for i, cell := range row {
			if slices.ContainsFunc(g.rows[g.heads:], func(row []string) bool { return row[i] != "" }) {
				line.WriteString(g.padded(cell, i, widths[i]) + "  ")
			}
		}
		fmt.Fprintln(b, strings.TrimRight(line.String(), " "))
	}
}

// markdown writes a table. The head must be one row.
func (g *grid) markdown(b *bytes.Buffer) {
	for _, row := range g.rows {
		for i, cell := range row {
			row[i] = strings.ReplaceAll(cell, "|", `\|`)
		}
	}
	widths := g.widths(3)
	for n, row := range g.rows {
		for i, cell := range row {
			fmt.Fprintf(b, "| %s ", g.padded(cell, i, widths[i]))
		}
		b.WriteString("|\n")
		if n > 0 {
			continue
		}
		for i, width := range widths {
			rule := strings.Repeat("-", width)
			if !g.left(i) {
				rule = rule[1:] + ":"
			}
			fmt.Fprintf(b, "| %s ", rule)
		}
		b.WriteString("|\n")
	}
}

// fixed writes a line of the truth section's width: a label, and cells in columns of
// one width.
func fixed(b *bytes.Buffer, label string, width int, cells ...string) {
	fmt.Fprintf(b, "%-*s", truthLabel, label)
	for _, cell := range cells {
		fmt.Fprintf(b, " %*s", width-1, cell)
	}
	b.WriteByte('\n')
}

// wrap writes a text after a label of so many characters, in lines of a width.
func wrap(b *bytes.Buffer, label, width int, text string) {
	column := label
	for word := range strings.FieldsSeq(text) {
		n := 1 + screen.Width(word)
		if column+n > width {
			fmt.Fprintf(b, "\n%*s", label, "")
			column = label
		}
		b.WriteString(" " + word)
		column += n
	}
	b.WriteByte('\n')
}

// orDash is a text, or a dash if it is empty.
func orDash(text string) string { return cmp.Or(text, "-") }

// ofLoads is a grid for a terminal, or with one line of heads for Markdown.
func ofLoads(names []string, shown screen.Screen, heads ...string) *grid {
	var all []string
	for _, name := range names {
		all = append(all, "|"+name)
	}
	all = append(all, heads...)
	if shown.IsTerminal() {
		return twoLined(len(names), all...)
	}
	latency := ""
	for i, head := range all {
		above, below, _ := strings.Cut(head, "|")
		if above == "" && i > len(names) && latency != "" && below != "verdict" {
			above = latency // a heading over several columns
		}
		latency = above
		all[i] = strings.TrimSpace(below + " " + above)
		if strings.Contains(below, "/s") {
			all[i] = strings.TrimSpace(above + " " + below)
		}
	}
	return &grid{heads: 1, names: len(names), rows: [][]string{all}}
}

// tableOf writes a grid under a title, with the meaning of the mark.
func tableOf(w io.Writer, g *grid, shown screen.Screen, title string, marked bool) error {
	var b bytes.Buffer
	b.WriteString("\n" + title + "\n")
	switch {
	case shown.IsTerminal():
		g.text(&b)
		if marked {
			b.WriteString(few + " " + fewMeans + "\n")
		}
	default:
		b.WriteByte('\n')
		g.markdown(&b)
		if marked {
			b.WriteString("\n`" + few + "` " + fewMeans + "\n")
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
