package overview

import (
	"fmt"
	"slices"

	"github.com/servebench/servebench/report/screen"
)

// drawnWidth is the width of a drawn interval, digit the approximate width of a digit of 14
// pixels, and textPad the space between columns.
const (
	drawnWidth = 122
	digit      = 8
	textPad    = 12
)

// table draws the important rows and prints how many more there are. With drawn intervals it
// omits the p values.
func (p *picture) table(t *Table, wide float64) {
	rows := slices.DeleteFunc(slices.Clone(t.Rows), func(r Row) bool { return r.More })
	more := len(rows) - mostRows
	rows = rows[:min(len(rows), mostRows)]
	ends := t.columns(rows, wide)
	p.y += 16
	p.cells(Row{Cells: t.Head}, ends, 0, `class="soft" font-size="12"`)
	p.rule(wide)
	for _, r := range rows {
		p.y += rowOf
		switch {
		case r.Heading != "":
			p.text(edge, p.y, `class="ink" font-weight="600"`, r.Heading)
		default:
			p.cells(r, ends, t.Drawn, `class="ink"`)
		}
		p.rule(wide)
	}
	if more > 0 {
		p.y += rowOf
		p.text(edge, p.y, `class="soft"`, fmt.Sprintf("and %d more rows", more))
	}
	if t.Note != "" {
		p.y += rowOf
		p.text(edge, p.y, `class="soft" font-size="12"`, t.Note)
	}
	p.y += 16
}

func (p *picture) rule(wide float64) {
	fmt.Fprintf(p, `<line class="rule" x1="%d" x2="%.1f" y1="%.1f" y2="%[3]f"/>`+"\n", edge, edge+wide, p.y+8)
}

// columns are the right ends of the columns. The first column takes the width that the others
// leave. An omitted column has no width.
func (t *Table) columns(rows []Row, wide float64) []float64 {
	ends := make([]float64, len(t.Head))
	end := edge + wide
	for i := len(ends) - 1; i >= 0; i-- {
		ends[i] = end
		end -= t.width(rows, i)
	}
	return ends
}

func (t *Table) width(rows []Row, column int) float64 {
	switch {
	case t.Drawn > 0 && column == t.Drawn:
		return drawnWidth
	case t.Drawn > 0 && column == t.Drawn+1:
		return 0
	}
	most := screen.Width(t.Head[column])
	for _, r := range rows {
		if r.Cells != nil {
			most = max(most, screen.Width(r.Cells[column]))
		}
	}
	if most == 0 {
		return 0
	}
	return float64(most)*digit + textPad
}

// cells writes a row: the name at the left, numbers to the right of their columns.
func (p *picture) cells(r Row, ends []float64, drawn int, attributes string) {
	p.text(edge, p.y, attributes, screen.Cut(r.Cells[0], int((ends[0]-edge)/letter)))
	for i, text := range r.Cells[1:] {
		column := i + 1
		switch {
		case ends[column] == ends[column-1]:
		case drawn > 0 && column == drawn:
			p.span(r.Span, ends[column]-drawnWidth+10, drawnWidth-20)
		case column == len(ends)-1 && r.Tone != "":
			p.text(ends[column], p.y, fmt.Sprintf(`class="%s" font-size="12" font-weight="600" text-anchor="end"`, r.Tone), text)
		default:
			p.text(ends[column], p.y, attributes+` text-anchor="end"`, text)
		}
	}
}

// span draws an interval: the margin as a band, no change as a line, the estimate as a dot.
func (p *picture) span(s *Span, x, wide float64) {
	if s == nil {
		return
	}
	at, y := func(share float64) float64 { return x + share*wide }, p.y-5
	fmt.Fprintf(p, `<rect class="margin" x="%.1f" y="%.1f" width="%.1f" height="18"/>`+"\n", at(s.From), y-9, at(s.To)-at(s.From))
	fmt.Fprintf(p, `<line class="rule" x1="%.1f" x2="%[1]f" y1="%.1f" y2="%.1f" stroke-width="1.5"/>`+"\n", at(s.Zero), y-9, y+9)
	fmt.Fprintf(p, `<g class="span-%s"><line x1="%.1f" x2="%.1f" y1="%.1f" y2="%[4]f" stroke-width="3" stroke-linecap="round"/><circle cx="%.1f" cy="%[4]f" r="4.5"/></g>`+"\n",
		s.Tone, at(s.Low), at(s.High), y, at(s.Share))
}
