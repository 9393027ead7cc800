// Package repeats writes what several runs of one command have in common, and how they differ.
//
// A Report has the numbers of each repeat, and how far they lie apart. SharedStart says what repeats cannot show: how
// much starts of the server differ.
package repeats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/processes"
	"github.com/servebench/servebench/metrics/catalogue"
	"github.com/servebench/servebench/metrics/numpy"
	"github.com/servebench/servebench/metrics/sharing"
	"github.com/servebench/servebench/report/layout"
	"github.com/servebench/servebench/report/neighbours"
	"github.com/servebench/servebench/report/runs"
	"github.com/servebench/servebench/report/screen"
)

// A Report is of runs that were repeated.
type Report struct {
	// Runs are the repeats of all targets, in order.
	Runs []*metrics.Summary

	// Several says that they are of several targets.
	Several bool

	// Extended shows how much the repeats of each of several targets differ. A report of a single target always
	// shows that.
	Extended bool

	// Loads are the loads on several targets; nil shows nothing about what they did to each other.
	Loads []sharing.Load
}

// Write writes by how much targets slow each other down, if there are several, then a table of
// the repeated runs, then how much they differ. On a terminal the table fits its width; elsewhere it is
// Markdown, with all numbers.
func (r *Report) Write(w io.Writer, shown screen.Screen) error {
	var table runs.Table
	repeats := map[string]int{}
	for _, s := range r.Runs {
		var labels []metrics.KV
		name := s.Header.TargetName()
		if r.Several {
			labels = append(labels, metrics.KV{Key: "target", Value: name})
		}
		repeats[name]++
		labels = append(labels, metrics.KV{Key: "repeat", Value: fmt.Sprint(repeats[name])})
		table.Rows = append(table.Rows, runs.Row{Labels: labels, Summary: s})
	}
	var b bytes.Buffer
	errs := []error{neighbours.PairedBySeries(&b, r.Runs), neighbours.Sharing(&b, shown, r.Loads)}
	b.WriteByte('\n')
	if shown.IsTerminal() {
		errs = append(errs, table.Text(&b, shown.Width, "a page (servebench report --html) and in --format json"))
	} else {
		errs = append(errs, table.Markdown(&b))
	}
	names, of := metrics.By(r.Runs, func(s *metrics.Summary) string { return s.Header.TargetName() })
	if r.Several && !r.Extended {
		names = nil
	}
	for _, name := range names {
		title := "Over all repeats"
		if r.Several {
			title = name + ", over all repeats"
		}
		b.WriteByte('\n')
		errs = append(errs, spread(&b, title, of[name]))
	}
	_, err := w.Write(b.Bytes())
	return errors.Join(append(errs, err)...)
}

// spreadWidth is the width of a number in the table of spread.
const spreadWidth = 9

// spread writes how much the numbers of repeated runs differ: mean, median, least and most over the
// runs, and the coefficient of variation, which is the sample standard deviation (n−1) over the
// mean. A run that lacks a number, for example a latency if no request completed, does not count
// for it. It writes nothing for fewer than two runs.
func spread(w io.Writer, title string, sums []*metrics.Summary) error {
	if len(sums) < 2 {
		return nil
	}
	var b bytes.Buffer
	layout.Line(&b, title, spreadWidth, "mean", "median", "least", "most", "CV %")
	for _, c := range spreadColumns() {
		var values []float64
		for _, s := range sums {
			if v := c.Of(s); !math.IsNaN(v) && s.Completed > 0 {
				values = append(values, v)
			}
		}
		if len(values) < 2 {
			continue
		}
		slices.Sort(values)
		mean, cv := variation(values)
		var cells []string
		for _, v := range []float64{mean, numpy.Median(values), values[0], values[len(values)-1], cv} {
			cells = append(cells, metrics.Readable(v, 2))
		}
		layout.Line(&b, fmt.Sprintf("%s (%s)", c.Label, c.Unit), spreadWidth, cells...)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// spreadColumns are the numbers of a run that are compared between repeats.
var spreadColumns = catalogue.Chosen("duration", "request_throughput", "output_throughput",
	"mean_ttft", "median_ttft", "p99_ttft", "mean_tpot", "median_tpot", "p99_tpot",
	"mean_itl", "median_itl", "p99_itl", "mean_e2el", "median_e2el", "p99_e2el")

// variation is the mean of values and their coefficient of variation in percent, which is 0 if the
// mean is 0.
func variation(values []float64) (mean, cv float64) {
	if mean = numpy.Mean(values); mean == 0 {
		return 0, 0
	}
	return mean, numpy.SampleStd(values) / mean * 100
}

// SharedStart says what the repeats of one command cannot show: how much starts of the server
// differ. It is empty if the server restarted between them, and for a single run.
func SharedStart(sums []*metrics.Summary) string {
	targets, runs := metrics.By(sums, func(s *metrics.Summary) string { return s.Header.Target })
	most, unknown := 0, false
	for _, target := range targets {
		starts := map[string]bool{}
		for _, s := range runs[target] {
			if start := processes.Start(s); start != nil {
				starts[start.ID] = true
			} else {
				unknown = true
			}
		}
		if len(starts) > 1 {
			return ""
		}
		most = max(most, len(runs[target]))
	}
	switch {
	case most < 2:
		return ""
	case unknown:
		return fmt.Sprintf("%d runs on a server that does not say when it started: if it is one start, they show how runs "+
			"on it differ, and not how starts do. "+
			"servebench sweep starts the server for each repeat", most)
	}
	return fmt.Sprintf("%d runs on one server start: they show how runs on it differ, and not how starts do. "+
		"servebench sweep starts the server for each repeat", most)
}
