package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/servebench/servebench/metrics"
)

// A verdict is what a figure says of its target.
type verdict string

const (
	met    verdict = "met"
	missed verdict = "missed"
	void   verdict = "void" // nothing: it could not be measured, or something disturbed it
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

// despite is r, measured while something disturbed it if what is not empty. A target
// that was missed meanwhile is void; one that was met in spite of that is met.
func (r row) despite(what string) row {
	if what != "" && r.verdict == missed {
		r.verdict, r.figure = void, r.figure+"; "+what
	}
	return r
}

// counting gives the rounds that count, which are those that are not void, and the
// verdict on what they show. Where all are void, all are given, and show nothing.
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

// known is a figure of the machine; 0 where the system does not tell.
func known(figure *float64) float64 {
	if figure == nil {
		return 0
	}
	return *figure
}

// spread shows the median of values in ascending order and how far they lie apart.
func spread(sorted []float64) string {
	return fmt.Sprintf("%.2f (%.2f to %.2f)", metrics.Median(sorted), slices.Min(sorted), slices.Max(sorted))
}

// A table prints rows as they come.
type table struct {
	w io.Writer
	n map[verdict]int
}

// add prints what belongs together, under a title.
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
