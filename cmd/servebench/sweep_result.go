package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/servebench/servebench/loadgen/sweep"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/stream"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report"
)

// A sweepResult is what a sweep came to so far.
type sweepResult struct {
	*sweepCommand
	sweep  *sweep.Sweep
	sums   map[string][]*metrics.Summary // by run, or by group where there are several targets
	failed int                           // runs
	strict error                         // why --strict does not let the sweep pass; nil for a search, in which such a run is a probe that failed
}

// result reads the record stream of the sweep.
func (c *sweepCommand) result(s *sweep.Sweep) (*sweepResult, error) {
	r := &sweepResult{sweepCommand: c, sweep: s, sums: map[string][]*metrics.Summary{}}
	name := filepath.Join(c.dir, sweep.RecordsName)
	f, err := stream.OpenFiles(name)
	if err != nil {
		return r, err
	}
	defer f.Close() // which was only read
	var ask metrics.Ask
	for _, o := range c.runs {
		ask.Trace = ask.Trace || o.Results.Parts.Any()
	}
	sums, err := stream.Read(f, ask)
	if err != nil && !errors.Is(err, stream.ErrNothing) {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	for _, sum := range sums {
		id := cmp.Or(sum.Header.Group, sum.Header.Run)
		r.sums[id] = append(r.sums[id], sum)
	}
	for _, cell := range c.plan.Cells() {
		for _, e := range c.journal.Of(c.plan.Key(cell)) {
			if e.Failed != "" {
				r.failed++
			} else if r.sums[e.Run] == nil {
				return r, fmt.Errorf("%s: run %s of the journal is not in it", name, e.Run)
			} else {
				for _, s := range r.sums[e.Run] {
					c.runs[cell].Results.Parts.Cut(io.Discard, s) // the log has what it warns of
					if c.runs[cell].Results.Strict && c.plan.Search == nil {
						r.strict = cmp.Or(r.strict, strict(s))
					}
				}
			}
		}
	}
	return r, nil
}

// write prints the blocks and the table, and writes them into the folder.
func (r *sweepResult) write() error {
	if len(r.journal.Entries()) == 0 {
		return nil
	}
	table := r.table()
	document := func(w io.Writer) error { return r.document(w) }
	markdown := func(w io.Writer) error { return r.markdown(w, table) }
	errs := []error{
		r.writeTo("blocks.txt", document), r.writeTo("table.md", markdown),
		r.writeTo("table.csv", table.CSV), r.writeTo("table.json", table.JSON),
		document(r.out),
	}
	_, err := fmt.Fprintln(r.out)
	return errors.Join(append(errs, err, markdown(r.out))...)
}

// markdown writes the table, and below it what its searches came to.
func (r *sweepResult) markdown(w io.Writer, table report.Table) error {
	err := table.Markdown(w)
	for i, line := range r.answers() {
		if i == 0 {
			line = "\n- " + line
		} else {
			line = "- " + line
		}
		_, failed := fmt.Fprintln(w, line)
		err = errors.Join(err, failed)
	}
	return err
}

// table has a row for each run in the order of the file.
func (r *sweepResult) table() report.Table {
	var table report.Table
	for _, cell := range r.plan.Cells() {
		more := r.answer(cell)
		for _, e := range r.journal.Of(r.plan.Key(cell)) {
			labels := r.labels(cell)
			if e.Value != nil {
				labels = append(labels, metrics.KV{Key: r.plan.Search.Flag, Value: fmt.Sprintf("%g", *e.Value)},
					metrics.KV{Key: "probe", Value: verdictOf(e)})
			}
			notes := slices.Clone(e.Notes)
			if e.Broke != "" {
				notes = append(notes, e.Broke)
			}
			if e.Failed != "" {
				table = append(table, report.Row{Labels: labels, Failed: e.Failed, Notes: notes, More: more})
			}
			for _, s := range r.sums[e.Run] {
				row := report.Row{Labels: slices.Clone(labels), Summary: s, Notes: notes, More: more}
				if s.Header.Target != "" {
					row.Labels = append(row.Labels, metrics.KV{Key: "target", Value: s.Header.TargetName()})
				}
				table = append(table, row)
			}
		}
	}
	return table
}

// verdictOf says in a word what came of a probe.
func verdictOf(e sweep.Entry) string {
	switch {
	case e.Failed != "":
		return ""
	case e.Passed:
		return "passed"
	}
	return "failed"
}

// labels tell a cell's runs from the others.
func (r *sweepResult) labels(cell sweep.Cell) []metrics.KV {
	kvs := []metrics.KV{{Key: "arm", Value: r.plan.Arms[cell.Arm].Name}}
	for _, s := range r.plan.Points[cell.Point].Settings {
		kvs = append(kvs, metrics.KV{Key: s.Flag, Value: s.Value})
	}
	return append(kvs, metrics.KV{Key: "repeat", Value: fmt.Sprint(cell.Repeat + 1)})
}

// document writes the blocks in the order of the file. Before the points that
// differ in the last key of the grid alone stand the values of all keys.
func (r *sweepResult) document(w io.Writer) error {
	var text strings.Builder
	heading := ""
	for _, cell := range r.plan.Cells() {
		entries := r.journal.Of(r.plan.Key(cell))
		if len(entries) == 0 {
			continue
		}
		if h := r.heading(cell); h != heading {
			if heading != "" {
				text.WriteString("\n")
			}
			text.WriteString(h)
			heading = h
		}
		for _, e := range entries {
			text.WriteString("\n" + r.subheading(cell, e))
			if err := r.block(&text, cell, e); err != nil {
				return err
			}
		}
		if found := r.found(cell); found != "" {
			text.WriteString("\n" + found + "\n")
		}
		if err := r.paired(&text, cell); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// heading is the arm, and the values of the grid among which the cell is.
func (r *sweepResult) heading(cell sweep.Cell) string {
	var text strings.Builder
	fmt.Fprintln(&text, r.plan.Arms[cell.Arm].Name)
	point := r.plan.Points[cell.Point]
	outer := len(point.Settings) - point.Inner
	inner := make([][]string, point.Inner)
	for _, other := range r.plan.Points {
		if other.Group != point.Group || !slices.EqualFunc(other.Settings[:outer], point.Settings[:outer],
			func(a, b sweep.Setting) bool { return a.Flag == b.Flag && a.Value == b.Value }) {
			continue
		}
		for i, s := range other.Settings[outer:] {
			inner[i] = append(inner[i], s.Value)
		}
	}
	for i, values := range inner {
		fmt.Fprintf(&text, "%s: %s\n", headed(point.Settings[outer+i].Flag), strings.Join(values, ", "))
	}
	for _, s := range point.Settings[:outer] {
		fmt.Fprintf(&text, "%s: %s\n", headed(s.Flag), s.Value)
	}
	return text.String()
}

// headed is a flag as it stands in a heading.
func headed(flag string) string {
	if flag == "random-input-len" || flag == "input-len" {
		return "seq_length"
	}
	return strings.ReplaceAll(flag, "-", "_")
}

// subheading tells a block from the others under one heading.
func (r *sweepResult) subheading(cell sweep.Cell, e sweep.Entry) string {
	var parts []string
	point := r.plan.Points[cell.Point]
	for _, s := range point.Settings[len(point.Settings)-point.Inner:] {
		parts = append(parts, headed(s.Flag)+": "+s.Value)
	}
	if e.Value != nil {
		parts = append(parts, fmt.Sprintf("%s: %g", headed(r.plan.Search.Flag), *e.Value))
	}
	if r.plan.Repeats > 1 {
		parts = append(parts, fmt.Sprintf("repeat: %d", cell.Repeat+1))
	}
	if parts == nil {
		return ""
	}
	return strings.Join(parts, ", ") + "\n"
}

// block writes one run, or why there is none.
func (r *sweepResult) block(w io.Writer, cell sweep.Cell, e sweep.Entry) error {
	sums := r.sums[e.Run]
	if e.Failed != "" {
		_, err := fmt.Fprintf(w, "FAILED: %s\n", e.Failed)
		return err
	}
	results := &r.runs[cell].Results
	version := results.VLLMVersion
	var errs []error
	for _, s := range sums {
		if s.Header.Target != "" {
			fmt.Fprintf(w, "%s:\n", s.Header.TargetName())
		}
		errs = append(errs, vllm.Failures(w, s, version), vllm.Block(w, s, version), results.Parts.Show(w, s, version))
	}
	for _, g := range compare.Groups(sums) {
		errs = append(errs, report.Group(w, &g, version))
	}
	return errors.Join(errs...)
}

// paired writes after the last repeat of a point what the targets of its repeats did
// to each other, from all of them.
func (r *sweepResult) paired(w io.Writer, cell sweep.Cell) error {
	if cell.Repeat < r.plan.Repeats-1 || r.plan.Search != nil {
		return nil
	}
	var sums []*metrics.Summary
	for _, other := range r.plan.Cells() {
		if other.Arm == cell.Arm && other.Point == cell.Point {
			for _, e := range r.journal.Of(r.plan.Key(other)) {
				sums = append(sums, r.sums[e.Run]...)
			}
		}
	}
	return report.Paired(w, compare.Pair(compare.Groups(sums)))
}
