package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/servebench/servebench/metrics/numpy"
)

// A verdict says whether a figure meets its target.
type verdict string

const (
	met    verdict = "met"
	missed verdict = "missed"
	void   verdict = "void" // it could not be measured, or something disturbed it
	none   verdict = ""     // there is no target
)

// A line is one of what make bench prints.
type line struct {
	measure, figure, target string
	verdict                 verdict
}

func verdictOf(good bool) verdict {
	if good {
		return met
	}
	return missed
}

// despite is l, measured while what, if not empty, disturbed it. A missed target is then void; a
// target that was met still counts as met.
func (l line) despite(what string) line {
	if what != "" && l.verdict == missed {
		l.verdict, l.figure = void, l.figure+"; "+what
	}
	return l
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

// each has one figure of each round, in ascending order.
func each[R any](rounds []R, figure func(R) float64) []float64 {
	var values []float64
	for _, r := range rounds {
		values = append(values, figure(r))
	}
	slices.Sort(values)
	return values
}

// valueOf is a figure of the machine; 0 if the system does not report it.
func valueOf(figure *float64) float64 {
	if figure == nil {
		return 0
	}
	return *figure
}

// ranged shows the median of values in ascending order, and the least and largest.
func ranged(sorted []float64) string {
	return fmt.Sprintf("%.2f (%.2f to %.2f)", numpy.Median(sorted), slices.Min(sorted), slices.Max(sorted))
}

// A sheet prints lines as they come.
type sheet struct {
	w io.Writer
	n map[verdict]int
}

// add prints a group of lines under a title.
func (s *sheet) add(title string, lines []line) {
	fmt.Fprintf(s.w, "%s\n", title)
	columns := tabwriter.NewWriter(s.w, 0, 0, 2, ' ', 0)
	for _, l := range lines {
		s.n[l.verdict]++
		fmt.Fprintf(columns, "  %s\t%s\t%s\t%s\n", l.measure, l.figure, l.target, l.verdict)
	}
	columns.Flush()
	fmt.Fprintln(s.w)
}

// sum prints how many targets were met.
func (s *sheet) sum() {
	fmt.Fprintf(s.w, "%d targets met, %d missed, %d void\n", s.n[met], s.n[missed], s.n[void])
}
