package main

import (
	"fmt"
	"io"
	"text/tabwriter"
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

// atMost and atLeast are the verdicts on a figure.
func atMost(figure, target float64) verdict { return verdictOf(figure <= target) }

func atLeast(figure, target float64) verdict { return verdictOf(figure >= target) }

func verdictOf(good bool) verdict {
	if good {
		return met
	}
	return missed
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
