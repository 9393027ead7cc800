// Package neighbours writes what targets that were loaded together did to each other.
//
// A Group is of one repeat, Paired is of several, and Sharing is of a whole experiment: who slows whom. Targets
// writes all of these that one repeat has.
package neighbours

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/targets"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report"
	"github.com/servebench/servebench/report/layout"
)

// Group writes tables of what the targets of a group did together and to each other, in the whole
// run and while all were loaded. It writes nothing for fewer than two targets.
func Group(w io.Writer, g *targets.Group) error {
	if len(g.Shared) < 2 {
		return nil
	}
	var b bytes.Buffer
	total := g.Total()
	fmt.Fprintf(&b, "\nAll targets: %d of %s completed in %s s, %s req/s, %s output tok/s\n", total.Completed,
		metrics.Counted(total.Completed+total.Failed, "request"), layout.Decimal(total.When.Seconds),
		layout.Decimal(total.Rates.Requests), layout.Decimal(total.Rates.Output))
	whole := g.Interference()
	marked := interference(&b, whole, "with the others", "alone")
	tableNotes(&b, tableNote{marked, whole.Compared, whole.Bound})
	if window, ok := g.Loaded(); !ok {
		b.WriteString("\nAt no time were all targets loaded\n")
	} else {
		part := g.Within(window)
		interference(&b, part.Interference(), "while all were loaded ("+report.Between(window)+")", "alone")
		for _, s := range part.Shared {
			fmt.Fprintf(&b, "%s: %s\n", s.Header.TargetName(), report.Inside(s))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// GroupBlocks writes the block of all targets of a group together, and the blocks of the
// time while all were loaded. It writes nothing for fewer than two targets.
func GroupBlocks(w io.Writer, g *targets.Group, v vllm.Version) error {
	if len(g.Shared) < 2 {
		return nil
	}
	var b bytes.Buffer
	total := g.Total()
	b.WriteString("\nAll targets\n")
	vllm.Block(&b, total, v) // a buffer accepts everything
	if window, ok := g.Loaded(); ok {
		fmt.Fprintf(&b, "\nWhile all targets were loaded, %s\n", report.Between(window))
		for _, s := range g.Within(window).Shared {
			fmt.Fprintf(&b, "\n%s: %s\n", s.Header.TargetName(), report.Inside(s))
			vllm.Block(&b, s, v)
		}
		all := total.Within(window)
		fmt.Fprintf(&b, "\nAll targets: %s\n", report.Inside(all))
		vllm.Block(&b, all, v)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// GroupJSON writes the same as one object on one line without a line end, formatted as JSON formats
// a run. Unknown numbers are null.
func GroupJSON(w io.Writer, g *targets.Group, v vllm.Version) error {
	if len(g.Shared) < 2 {
		return nil
	}
	total := g.Total()
	o := pyjson.Object{{Key: "group", Value: g.ID}, {Key: "total", Value: report.Object(total, v)},
		{Key: "interference", Value: interferenceObject(g.Interference())}}
	var loaded any
	if at, ok := g.Loaded(); ok {
		part := g.Within(at)
		targets := pyjson.Object{}
		for _, s := range part.Shared {
			targets = targets.With(s.Header.Target, report.PartObject(s))
		}
		loaded = pyjson.Object{
			{Key: "from_s", Value: at.From.Seconds()}, {Key: "to_s", Value: at.To.Seconds()},
			{Key: "targets", Value: targets}, {Key: "total", Value: report.PartObject(total.Within(at))},
			{Key: "interference", Value: interferenceObject(part.Interference())},
		}
	}
	_, err := w.Write(pyjson.Append(nil, o.With("loaded", loaded)))
	return err
}

// Targets writes the results of the targets of one repeat: their interference, if known, then these
// parts of each run. Their blocks are there if the parts are Extended, or if nothing else is known.
func Targets(w io.Writer, p *report.Parts, sums []*metrics.Summary, v vllm.Version) error {
	var errs []error
	var b bytes.Buffer
	groups := slices.DeleteFunc(targets.Groups(sums), func(g targets.Group) bool {
		return len(g.Shared) < 2 ||
			slices.ContainsFunc(g.Shared, func(s *metrics.Summary) bool { return s.Kept.Trace == nil })
	})
	for _, g := range groups {
		errs = append(errs, Group(&b, &g))
	}
	for _, s := range sums {
		var parts bytes.Buffer
		if p.Extended || len(groups) == 0 {
			errs = append(errs, vllm.Block(&parts, s, v))
		}
		if errs = append(errs, p.Show(&parts, s, v)); parts.Len() > 0 {
			fmt.Fprintf(&b, "\n%s\n%s", s.Header.TargetName(), &parts)
		}
	}
	if p.Extended {
		for _, g := range groups {
			errs = append(errs, GroupBlocks(&b, &g, v))
		}
	}
	_, err := w.Write(b.Bytes())
	return errors.Join(append(errs, err)...)
}
