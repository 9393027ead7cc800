// Package against writes the blocks of documents next to runs: what a document states, what the runs measured, and
// the ratio.
//
// A Document is a table. Blocks that name different GPUs or models are in different tables.
package against

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/published"
	"github.com/servebench/servebench/report/layout"
	"github.com/servebench/servebench/report/screen"
)

// Formats are the formats of blocks of documents next to runs: text, Markdown and JSON.
var Formats = map[string]func(io.Writer, []*published.Block) error{
	"text": alone(screen.Screen{Width: textWidth}), "markdown": alone(screen.Screen{}),
	"json": published.Write,
}

// alone writes the tables with nothing before them.
func alone(shown screen.Screen) func(io.Writer, []*published.Block) error {
	return func(w io.Writer, blocks []*published.Block) error {
		var b bytes.Buffer
		if err := Write(&b, blocks, shown); err != nil {
			return err
		}
		_, err := w.Write(bytes.TrimPrefix(b.Bytes(), []byte("\n")))
		return err
	}
}

// textWidth is the width of text that goes to no terminal.
const textWidth = 120

// A Document is the table of a document's blocks next to runs.
type Document struct {
	Title string
	Head  []string
	// Rows are the block's number, the runs, the name, the document, the runs' median, the ratio, and
	// the least and the most of the runs.
	Rows   [][]string
	Marked string // what the mark of some cells means; "" without a mark
	Means  string // what the ratio is
	Notes  []string

	stated, here string
}

// Documents are the tables of blocks: one for each document, and for what it states.
func Documents(blocks []*published.Block) (all []Document) {
	type kind struct{ document, stated, here string }
	kinds, of := metrics.By(blocks, func(b *published.Block) kind { return kind{b.Document, b.Stated(), b.Here()} })
	for _, k := range kinds {
		d := Document{Title: "Against " + k.document, Means: ratioMeans(k.here), stated: k.stated, here: k.here,
			Head: []string{"block", "runs", "number", "document (" + k.stated + ")", k.here, "ratio", "least … most"}}
		for _, b := range of[k] {
			d.add(b)
		}
		all = append(all, d)
	}
	return all
}

// add adds the rows and the notes of a block.
func (d *Document) add(b *published.Block) {
	for i := range b.Numbers {
		n := &b.Numbers[i]
		here, ends := layout.Decimal(n.Here), ""
		if n.Few {
			here, d.Marked = here+layout.Few, layout.Few+" "+layout.FewMeans()
		}
		if b.Count > 1 {
			ends = layout.Decimal(n.Least) + " … " + layout.Decimal(n.Most)
		}
		d.Rows = append(d.Rows, []string{fmt.Sprint(b.Number), b.Runs, n.Label(), layout.Decimal(n.Document), here,
			ratio(n.Ratio), ends})
	}
	for _, note := range b.Notes {
		d.Notes = append(d.Notes, fmt.Sprintf("block %d, %s: %s", b.Number, b.Runs, note))
	}
}

// Write writes a table for each document, with a line for each number of each of its blocks: the
// document, the runs, and the ratio. On a screen that is a terminal it is text, elsewhere Markdown. It
// writes nothing without blocks.
func Write(w io.Writer, blocks []*published.Block, shown screen.Screen) error {
	for _, d := range Documents(blocks) {
		if err := d.grid(shown).Write(w, shown, screen.Clean(d.Title), d.Marked != ""); err != nil {
			return err
		}
		if err := d.explain(w, shown); err != nil {
			return err
		}
	}
	return nil
}

// grid is the table for a screen. A terminal has the number and the runs of a block once, and the least
// and the most if they fit.
func (d *Document) grid(shown screen.Screen) *layout.Grid {
	if !shown.IsTerminal() {
		g := &layout.Grid{Heads: 1, Names: 3}
		for _, row := range append([][]string{d.Head}, d.Rows...) {
			g.Add(slices.Clone(row)...)
		}
		return g
	}
	g := layout.TwoLined(3, slices.Concat([]string{"|block", "|runs", "|number"}, heads(d.stated, d.here))...)
	block := ""
	for _, row := range d.Rows {
		row = slices.Clone(row)
		if now := row[0] + " " + row[1]; now != block {
			block = now
		} else {
			row[0], row[1] = "", ""
		}
		g.Add(row...)
	}
	g.Fit(shown)
	return g
}

// heads are the heads of the columns with numbers, in two lines.
func heads(stated, here string) []string {
	stated = screen.Clean(stated)
	half := max(strings.LastIndex(stated[:len(stated)/2+1], " "), 0)
	above, below, two := strings.Cut(here, " ")
	if !two {
		above, below = "", here
	}
	return []string{"document (" + stated[:half] + "|" + strings.TrimSpace(stated[half:]) + ")", above + "|" + below,
		"|ratio", "|least … most"}
}

// ratioMeans explains the ratio of a table, the runs of which have that head.
func ratioMeans(here string) string {
	return here + " over the document. " + strings.ToUpper(here[:1]) + here[1:] +
		" is the median over the runs. A block is one run, so there is no verdict"
}

// explain explains the table, with what is to say about single blocks.
func (d *Document) explain(w io.Writer, shown screen.Screen) error {
	var b bytes.Buffer
	if shown.IsTerminal() {
		b.WriteString("Ratio:")
		screen.Wrap(&b, len("Ratio:"), shown.Readable(), d.Means)
		for _, note := range d.Notes {
			b.WriteByte('-')
			screen.Wrap(&b, 1, shown.Readable(), note)
		}
	} else {
		b.WriteString("\nRatio: " + d.Means + "\n")
		if d.Notes != nil {
			b.WriteString("\n- " + strings.Join(d.Notes, "\n- ") + "\n")
		}
	}
	_, err := io.WriteString(w, screen.CleanLines(b.String()))
	return err
}

// ratio writes a ratio with three significant digits.
func ratio(v float64) string {
	switch {
	case v >= 100:
		return metrics.Readable(v, 0)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 0.1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}
