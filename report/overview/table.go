package overview

import (
	"fmt"
	"math"
	"slices"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/catalogue"
	"github.com/servebench/servebench/metrics/numpy"
	"github.com/servebench/servebench/metrics/stats"
	"github.com/servebench/servebench/metrics/targets"
	"github.com/servebench/servebench/report/plot"
)

// A Table has names in its first column and numbers in the others.
type Table struct {
	Head []string
	// Drawn is the column with drawn intervals; 0 without one.
	Drawn int
	Rows  []Row
	Note  string // of what a mark in a cell means; may be empty
}

// A Row is a line of a Table.
type Row struct {
	Heading string // of the rows below; such a row has no Cells
	Cells   []string
	Span    *Span // of the drawn column; may be nil
	Tone    Tone  // of the last cell
	More    bool  // the row may be omitted to save space
}

// middleNumbers are the numbers of middles.
var middleNumbers = catalogue.Chosen("requests_per_s", "output_tokens_per_s", "median_ttft", "p99_ttft", "median_tpot")

// middles has a row for each condition, with the medians over its repeats.
func middles(runs []plot.Run) *Table {
	t := &Table{Head: []string{"runs"}}
	for i := range middleNumbers() {
		t.Head = append(t.Head, middleNumbers()[i].Head)
	}
	t.Head = append(t.Head, "verdict")
	for _, c := range plot.Conditions(runs) {
		row := Row{Cells: []string{c.Name()}}
		for i := range middleNumbers() {
			n := &middleNumbers()[i]
			text := decimal(c.Middle(n.Of))
			if slices.ContainsFunc(c.Runs, func(r plot.Run) bool { return n.Few(r.Summary) }) {
				text += few
				t.Note = fewMeans
			}
			row.Cells = append(row.Cells, text)
		}
		word, tone := ofRuns(c.Runs)
		row.Cells, row.Tone = append(row.Cells, word), tone
		t.Rows = append(t.Rows, row)
	}
	return t
}

// few marks a percentile of too few samples.
const few = "*"

// fewMeans explains few.
var fewMeans = fmt.Sprintf("* fewer than %d values beyond this percentile: too few to decide anything by it",
	stats.MinBeyond)

// ofRuns is the verdict on repeats in a few words.
func ofRuns(runs []plot.Run) (string, Tone) {
	verdicts := believable(runs)
	switch {
	case verdicts == nil:
		return "", Open
	case len(runs) == 1, verdicts[0].Tone() == Good:
		return verdicts[0].Word, verdicts[0].Tone()
	}
	n := 0
	for _, r := range runs {
		if r.Summary.Trust != nil && string(r.Summary.Trust.Verdict) == verdicts[0].Word {
			n++
		}
	}
	return fmt.Sprintf("%d of %d %s", n, len(runs), verdicts[0].Word), verdicts[0].Tone()
}

// slowdowns has a row for each target that ran alone and with others; it is nil without such a
// target. For several repeats it has medians, and the geometric mean of the slowdowns.
func slowdowns(runs []plot.Run) *Table {
	var sums []*metrics.Summary
	for _, r := range runs {
		sums = append(sums, r.Summary)
	}
	var names []string
	effects := map[string][]targets.Sharing{}
	groups := targets.Groups(sums)
	for i := range groups {
		if len(groups[i].Shared) < 2 {
			continue
		}
		for _, e := range groups[i].Interference().Effects {
			if e.Alone != nil {
				names = append(names, e.Target)
				effects[e.Target] = append(effects[e.Target], e)
			}
		}
	}
	if names == nil {
		return nil
	}
	t := &Table{Head: []string{"target"}}
	for _, m := range shownMeasures() {
		t.Head = append(t.Head, m.Head+" alone", "together", "slowdown")
	}
	for _, target := range metrics.Distinct(names) {
		row := Row{Cells: []string{target}}
		pair := targets.Paired{Target: target, Effects: effects[target]}
		for _, m := range shownMeasures() {
			slowdown, _, _ := pair.Slowdown(m)
			row.Cells = append(row.Cells, decimal(middle(pair.Effects,
				func(e *targets.Sharing) float64 { return m.Value(e.Alone) })),
				decimal(middle(pair.Effects, func(e *targets.Sharing) float64 { return m.Value(e.Shared) })),
				times(slowdown))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// shownMeasures are the measures of interference on the first screen.
var shownMeasures = catalogue.Chosen("mean_ttft", "mean_tpot", "output_throughput")

// middle is the median of a number over the repeats.
func middle(effects []targets.Sharing, of func(*targets.Sharing) float64) float64 {
	var values []float64
	for i := range effects {
		values = append(values, of(&effects[i]))
	}
	slices.Sort(values)
	return numpy.Median(values)
}

// said is the label of a number with its unit, as Median TTFT, ms.
func said(n *metrics.Number) string {
	if n.Unit == metrics.Count {
		return n.Label
	}
	return n.Label + ", " + string(n.Unit)
}

// decimal is a number with as many digits as the block gives, a dash where it is unknown.
func decimal(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return metrics.Readable(v, 2)
}

// times is a ratio.
func times(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return metrics.Readable(v, 2) + " ×"
}
