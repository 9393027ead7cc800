// Package layout puts numbers and names into columns, for a terminal and for Markdown.
//
// A Grid is a table whose columns are as wide as their cells, and Line writes a row of columns of one width. All
// reports write a number as Decimal does, head its column as Heads does, and mark a percentile of too few samples
// with Few.
package layout

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/servebench/servebench/report/screen"
)

// A Grid is cells in columns, with the head first. All rows have the same length. Names are aligned
// to the left, numbers to the right.
type Grid struct {
	Heads int  // rows of the head
	Names int  // columns from the left that hold names
	Found bool // the last column holds a finding in words
	Rows  [][]string
}

// TwoLined is a grid with a head of two lines. A bar separates the lines in each text, as
// in "TTFT|mean ms".
func TwoLined(names int, columns ...string) *Grid {
	g := &Grid{Heads: 2, Names: names, Rows: [][]string{make([]string, len(columns)), make([]string, len(columns))}}
	for i, head := range columns {
		g.Rows[0][i], g.Rows[1][i], _ = strings.Cut(head, "|")
	}
	return g
}

// Add adds a row. What comes from outside, such as a label, must not command a terminal.
func (g *Grid) Add(cells ...string) {
	for i, cell := range cells {
		cells[i] = screen.Clean(cell)
	}
	g.Rows = append(g.Rows, cells)
}

// left reports whether a column holds names.
func (g *Grid) left(column int) bool {
	return column < g.Names || g.Found && column == len(g.Rows[0])-1
}

// widths are the widths of the columns on a terminal.
func (g *Grid) widths(least int) []int {
	widths := make([]int, len(g.Rows[0]))
	for i := range widths {
		widths[i] = least
		for _, row := range g.Rows {
			widths[i] = max(widths[i], screen.Width(row[i]))
		}
	}
	return widths
}

// padded is a cell in the width of its column.
func (g *Grid) padded(cell string, column, width int) string {
	if g.left(column) {
		return screen.Pad(cell, width)
	}
	return strings.Repeat(" ", max(0, width-screen.Width(cell))) + cell
}

// Text writes the columns two blanks apart. It leaves out columns that are empty below
// their head.
func (g *Grid) Text(b *bytes.Buffer) {
	widths := g.widths(0)
	for _, row := range g.Rows {
		var line strings.Builder
		for i, cell := range row {
			if slices.ContainsFunc(g.Rows[g.Heads:], func(row []string) bool { return row[i] != "" }) {
				line.WriteString(g.padded(cell, i, widths[i]) + "  ")
			}
		}
		fmt.Fprintln(b, strings.TrimRight(line.String(), " "))
	}
}

// Markdown writes a table. The head must be one row.
func (g *Grid) Markdown(b *bytes.Buffer) {
	for _, row := range g.Rows {
		for i, cell := range row {
			row[i] = strings.ReplaceAll(cell, "|", `\|`)
		}
	}
	widths := g.widths(3)
	for n, row := range g.Rows {
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

// Fit empties the last column of a grid that is wider than its terminal. An empty column is not shown.
func (g *Grid) Fit(shown screen.Screen) {
	all := 2 * (len(g.Rows[0]) - 1)
	for _, width := range g.widths(0) {
		all += width
	}
	if !shown.IsTerminal() || all <= shown.Width {
		return
	}
	for _, row := range g.Rows[g.Heads:] {
		row[len(row)-1] = ""
	}
}

// Write writes the grid under a title: as text on a screen that is a terminal, elsewhere as Markdown. If a
// cell is marked, it writes the meaning of Few, too.
func (g *Grid) Write(w io.Writer, shown screen.Screen, title string, marked bool) error {
	var b bytes.Buffer
	b.WriteString("\n" + title + "\n")
	switch {
	case shown.IsTerminal():
		g.Text(&b)
		if marked {
			b.WriteString(Few + " " + FewMeans() + "\n")
		}
	default:
		b.WriteByte('\n')
		g.Markdown(&b)
		if marked {
			b.WriteString("\n`" + Few + "` " + FewMeans() + "\n")
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
