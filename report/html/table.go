package html

import (
	"fmt"
	"strings"

	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/report/comparison"
	"github.com/servebench/servebench/report/overview"
	"github.com/servebench/servebench/report/plot"
	"github.com/servebench/servebench/report/runs"
)

// A table has rows. Its first column stays in view when a reader scrolls.
type table struct {
	Head []string
	Rows []row
	Note string // may be empty
}

// A row has cells, or a heading for the rows below.
type row struct {
	Heading string
	Cells   []cell
}

// A cell is text, a link to the section Target, or an interval that is drawn.
type cell struct {
	Text, Target string
	Span         *overview.Span
	Tone         overview.Tone
}

// percent is a share as an attribute of SVG.
func percent(share float64) string { return fmt.Sprintf("%.1f%%", share*100) }

// Wide is how much of the drawing the margin takes.
func (c cell) Wide() float64 { return c.Span.To - c.Span.From }

// shown makes cells of a table. In full, it includes the rows that may be omitted.
func shown(t *overview.Table, full bool) *table {
	all := &table{Head: t.Head, Note: t.Note}
	for _, r := range t.Rows {
		if r.More && !full {
			continue
		}
		cells := row{Heading: r.Heading}
		for i, text := range r.Cells {
			c := cell{Text: text}
			if t.Drawn > 0 && i == t.Drawn {
				c.Span = r.Span
			}
			if i > 0 && i == len(r.Cells)-1 {
				c.Tone = r.Tone
			}
			cells.Cells = append(cells.Cells, c)
		}
		all.Rows = append(all.Rows, cells)
	}
	return all
}

// tabulate makes a table of the runs, with a link to the section of each. The verdict comes
// second, where a reader sees it without scrolling.
func tabulate(plain []plot.Run) *table {
	side := runs.Table{}
	for _, r := range plain {
		side.Rows = append(side.Rows, runs.Row{Labels: r.Labels, Summary: r.Summary})
	}
	texts, labels := side.Cells()
	all := &table{}
	for i, texts := range texts {
		last := len(texts) - 1
		if i == 0 {
			all.Head = append([]string{"run", "verdict"}, texts[labels:last]...)
			continue
		}
		r := row{Cells: []cell{{Text: plain[i-1].Name(), Target: fmt.Sprintf("run-%d", i)}, verdictCell(&plain[i-1])}}
		for _, text := range texts[labels:last] {
			r.Cells = append(r.Cells, cell{Text: text})
		}
		all.Rows = append(all.Rows, r)
	}
	return all
}

func verdictCell(r *plot.Run) cell {
	v := overview.Judged(r.Summary)
	if v == nil {
		return cell{}
	}
	return cell{Text: v.Word, Tone: v.Tone()}
}

// A versus is a comparison of two sides with all its numbers.
type versus struct {
	Old, New, Gate string // Gate is empty for the usual one
	Legend         string
	Table          *table
	Reasons, Notes []string
}

func newVersus(f *overview.Front) *versus {
	v := &versus{Old: f.Old, New: f.New, Table: shown(f.Table, true), Reasons: f.Versus.Reasons, Notes: f.Versus.Notes,
		Legend: strings.Join(comparison.Legend(f.Versus), "; ")}
	if f.Versus.Gate != "{}" {
		v.Gate = f.Versus.Gate
	}
	for i := range f.Versus.Points {
		point := &f.Versus.Points[i]
		if arranged := point.Arranged(); arranged != "" {
			v.Notes = append(v.Notes, strings.TrimSpace(point.Name()+" design: "+arranged))
		}
		v.Notes = append(v.Notes, remarks(point)...)
	}
	return v
}

// remarks are notes about single numbers, each once.
func remarks(p *compare.Point) (texts []string) {
	names := map[string][]string{}
	for _, r := range p.Rows {
		for _, text := range r.Remarks {
			if names[text] == nil {
				texts = append(texts, text)
			}
			names[text] = append(names[text], r.Number.Name)
		}
	}
	for i, text := range texts {
		texts[i] = strings.TrimPrefix(p.Name()+": ", ": ") + strings.Join(names[text], ", ") + ": " + text
	}
	return texts
}
