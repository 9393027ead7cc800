package sweep

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/targets"
	"github.com/servebench/servebench/report/neighbours"
)

// document writes the blocks in the order of the file. Points that differ only in the last key of
// the grid share a heading, with the values of all keys.
func (r *result) document(w *strings.Builder) error {
	heading := ""
	for _, c := range r.Plan.cells() {
		entries := r.journal.history.runs(c)
		if len(entries) == 0 {
			continue
		}
		if h := r.heading(c); h != heading {
			if heading != "" {
				w.WriteString("\n")
			}
			w.WriteString(h)
			heading = h
		}
		for _, e := range entries {
			w.WriteString("\n" + r.subheading(c, e))
			if err := r.blocks(w, c, e); err != nil {
				return err
			}
		}
		if answer := r.answer(c); answer != "" {
			r.answers = append(r.answers, answer)
		}
		if err := r.paired(w, c); err != nil {
			return err
		}
	}
	return nil
}

// heading is the arm of a cell, and the values of the grid in its part of the document.
func (r *result) heading(c cell) string {
	text := r.Plan.Arms[c.arm].Name + "\n"
	point := r.Plan.Points[c.point]
	outer, inner := point.Settings[:len(point.Settings)-point.Inner], point.Settings[len(point.Settings)-point.Inner:]
	for i, s := range inner {
		var values []string
		for _, place := range r.Plan.pointsOf(c.arm) {
			other := r.Plan.Points[place]
			if other.Group == point.Group && slices.EqualFunc(other.Settings[:len(outer)], outer, Setting.same) {
				values = append(values, other.Settings[len(outer)+i].Value)
			}
		}
		text += headed(s.Flag) + ": " + strings.Join(values, ", ") + "\n"
	}
	for _, s := range outer {
		text += headed(s.Flag) + ": " + s.Value + "\n"
	}
	return text
}

func (s Setting) same(other Setting) bool { return s.Flag == other.Flag && s.Value == other.Value }

// headed is the name of a flag in a heading.
func headed(flag string) string {
	if flag == "random-input-len" || flag == "input-len" {
		return "seq_length"
	}
	return strings.ReplaceAll(flag, "-", "_")
}

// subheading distinguishes a block from the others under one heading.
func (r *result) subheading(c cell, e entry) string {
	var parts []string
	point := r.Plan.Points[c.point]
	for _, s := range point.Settings[len(point.Settings)-point.Inner:] {
		parts = append(parts, headed(s.Flag)+": "+s.Value)
	}
	if e.Value != nil {
		parts = append(parts, fmt.Sprintf("%s: %g", headed(r.Plan.Search.Flag), *e.Value))
	}
	if r.Plan.Repeats > 1 {
		parts = append(parts, fmt.Sprintf("repeat: %d", c.repeat+1))
	}
	if parts == nil {
		return ""
	}
	return strings.Join(parts, ", ") + "\n"
}

// blocks writes one run, or why it is missing.
func (r *result) blocks(w io.Writer, c cell, e entry) error {
	if e.Failed != "" {
		_, err := fmt.Fprintf(w, "FAILED: %s\n", e.Failed)
		return err
	}
	sums, load := r.sums[e.Run], r.Plan.loads.first(c)
	var errs []error
	for _, s := range sums {
		if s.Header.Target != "" {
			fmt.Fprintf(w, "%s:\n", s.Header.TargetName())
		}
		errs = append(errs, load.block(w, s))
	}
	for _, g := range targets.Groups(sums) {
		errs = append(errs, neighbours.Group(w, &g), neighbours.GroupBlocks(w, &g, load.Version))
	}
	return errors.Join(errs...)
}

// paired writes, after the last repeat of a point, what its targets did to each other in all
// repeats.
func (r *result) paired(w io.Writer, c cell) error {
	if c.repeat < r.Plan.most()-1 || r.Plan.Search != nil {
		return nil
	}
	var sums []*metrics.Summary
	for c.repeat = range r.Plan.most() {
		for _, e := range r.journal.history.runs(c) {
			sums = append(sums, r.sums[e.Run]...)
		}
	}
	return neighbours.Paired(w, targets.Pair(targets.Groups(sums)))
}
