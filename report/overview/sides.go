package overview

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/report/plot"
)

// sided are the labels that may name two sides to compare.
var sided = []string{"arm", "label", "file"}

// versus compares the runs of two arms, labels or files; the first is the old side. It compares
// nothing unless there are exactly two, and every run is of one. If the runs of a side are not
// alike, Apart says so.
func (f *Front) versus(runs []plot.Run) {
	for _, key := range sided {
		names, of := metrics.By(runs, func(r plot.Run) string { return metrics.Value(r.Labels, key) })
		if len(names) != 2 || slices.Contains(names, "") {
			continue
		}
		f.judge(key, names, of)
		return
	}
	if slices.ContainsFunc(runs, func(r plot.Run) bool { return r.Block() }) {
		f.Apart = "The runs are not compared: a result block does not say how it was measured, so no number can stand for " +
			"several. Name two runs to compare them."
	}
}

// judge compares two sides by the rule that they recorded, which also says which arm is the old one.
func (f *Front) judge(key string, names []string, of map[string][]plot.Run) {
	old, new := sideOf(of[names[0]]), sideOf(of[names[1]])
	rule, gate, notes, err := brief.Recorded(slices.Concat(old, new))
	if rule != nil && key == "arm" && rule.Old == names[1] && rule.New == names[0] {
		names, old, new = []string{names[1], names[0]}, new, old
	}
	if err = cmp.Or(err, compare.Unmixed(old, new, gate.Despite)); err != nil {
		f.Apart = fmt.Sprintf("%s and %s are not compared: %s", names[0], names[1], oneLine.Replace(err.Error()))
		return
	}
	f.Old, f.New, f.Versus = names[0], names[1], compare.Compare(old, new, gate)
	f.Versus.Conclude()
	f.Versus.Notes = append(f.Versus.Notes, notes...)
}

// oneLine makes one line of the lines of an error.
var oneLine = strings.NewReplacer("\n  ", " ", "\n", "; ")

func sideOf(runs []plot.Run) []*brief.Run {
	var sums []*metrics.Summary
	for _, r := range runs {
		sums = append(sums, r.Summary)
	}
	return brief.Runs(sums)
}

// changes has a row for each number of a comparison, the gated ones first.
func changes(c *compare.Comparison, old, new string) *Table {
	t := &Table{Head: []string{"", old, new, "change", "95 % interval", "p", ""}, Drawn: 4}
	most := reach(c)
	for i := range c.Points {
		p := &c.Points[i]
		if name := p.Name(); name != "" {
			t.Rows = append(t.Rows, Row{Heading: name})
		}
		for _, gated := range []bool{true, false} {
			for k := range p.Rows {
				if r := &p.Rows[k]; r.Judgement.Gated == gated {
					t.Rows = append(t.Rows, change(r, most))
				}
			}
		}
	}
	return t
}

func change(r *compare.Row, most float64) Row {
	row := Row{Cells: []string{
		said(&r.Number), r.Number.Text(r.Effect.From), r.Number.Text(r.Effect.To), compare.Percent(r.Effect.Share),
		r.Effect.Interval(compare.Percent), r.Chance(), string(r.Judgement.Finding),
	}, More: !r.Judgement.Gated, Tone: tone(r)}
	if r.Few {
		row.Cells[4], row.Cells[5], row.Tone = "few samples", "", Open
	} else if row.Cells[4] != "" {
		row.Span = span(r, most)
	}
	return row
}

// tone is good where a number got better, and bad where it got worse.
func tone(r *compare.Row) Tone {
	switch {
	case r.Judgement.Finding == compare.Worse:
		return Bad
	case r.Judgement.Finding == compare.Better:
		return Good
	case r.Judgement.Gated || !r.Differs:
		return Open
	case r.Effect.Share > 0 == (r.Number.Better == metrics.Higher):
		return Good
	}
	return Bad
}

// A Span is a drawn interval: shares of the width, from 0 at the left to 1 at the right. The
// edges cut what lies outside.
type Span struct {
	Low, Share, High float64
	Zero             float64 // where nothing changed
	From, To         float64 // the gate's margin; both are Zero without a gate
	Tone             Tone
}

// leastReach is the smallest reach.
const leastReach = 0.1

// reach is the largest change in the drawing of intervals, to either side. The intervals of
// gated numbers fit; others may be cut.
func reach(c *compare.Comparison) float64 {
	most := leastReach
	for i := range c.Points {
		for _, r := range c.Points[i].Rows {
			if !r.Judgement.Gated || !r.Effect.Bounded() {
				continue
			}
			for _, v := range []float64{r.Effect.Low, r.Effect.High, r.Judgement.Margin} {
				if v = math.Abs(v); !math.IsInf(v, 0) {
					most = max(most, v*1.1)
				}
			}
		}
	}
	return most
}

func span(r *compare.Row, most float64) *Span {
	at := func(v float64) float64 { return min(1, max(0, 0.5+v/most/2)) }
	return &Span{
		Low: at(r.Effect.Low), Share: at(r.Effect.Share), High: at(r.Effect.High),
		Zero: 0.5, From: at(-r.Judgement.Margin), To: at(r.Judgement.Margin), Tone: tone(r),
	}
}
