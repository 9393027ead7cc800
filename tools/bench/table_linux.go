package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/servebench/servebench/metrics"
)

// A verdict says whether a figure meets its target.
type verdict string

const (
	met    verdict = "met"
	missed verdict = "missed"
	void   verdict = "void" // it could not be measured, or something disturbed it
	none   verdict = ""     // there is no target
)

// A row is one line of the table.
type row struct {
	measure, figure, target string
	verdict                 verdict
}

func verdictOf(good bool) verdict {
	if good {
		return met
	}
	return missed
}

// despite is r, measured while what, if not empty, disturbed it. A missed target is then void; a
// target that was met still counts as met.
func (r row) despite(what string) row {
	if what != "" && r.verdict == missed {
		r.verdict, r.figure = void, r.figure+"; "+what
	}
	return r
}

// counting returns the rounds that count, without the void ones, and the verdict for them. If all
// are void, it returns all, without a verdict.
func counting[R any](all []R, isVoid func(R) bool) (rounds []R, voids string, judge func(good bool) verdict) {
	rounds, judge = slices.DeleteFunc(slices.Clone(all), isVoid), verdictOf
	voids = fmt.Sprintf("%d of %d rounds void", len(all)-len(rounds), len(all))
	if len(rounds) == 0 {
		rounds, judge = all, func(bool) verdict { return void }
	}
	return rounds, voids, judge
}

// figures has one figure of each round, in ascending order.
func figures[R any](rounds []R, figure func(R) float64) []float64 {
	var values []float64
	for _, r := range rounds {
		values = append(values, figure(r))
	}
	slices.Sort(values)
	return values
}

// known is a figure of the machine; 0 if the system does not report it.
func known(figure *float64) float64 {
	if figure == nil {
		return 0
	}
	return *figure
}

// spread shows the median of values in ascending order, and the least and largest.
func spread(sorted []float64) string {
	return fmt.Sprintf("%.2f (%.2f to %.2f)", metrics.Median(sorted), slices.Min(sorted), slices.Max(sorted))
}

// A table prints rows as they come.
type table struct {
	w io.Writer
	n map[verdict]int
}

// add prints a group of rows under a title.
func (t *table) add(title string, rows []row) {
	fmt.Fprintf(t.w, "%s\n", title)
	columns := tabwriter.NewWriter(t.w, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		t.n[r.verdict]++
		fmt.Fprintf(columns, "  %s\t%s\t%s\t%s\n", r.measure, r.figure, r.target, r.verdict)
	}
	columns.Flush()
	fmt.Fprintln(t.w)
}

// sum prints how many targets were met.
func (t *table) sum() {
	fmt.Fprintf(t.w, "%d targets met, %d missed, %d void\n", t.n[met], t.n[missed], t.n[void])
}
