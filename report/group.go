package report

import (
	"bytes"
	"fmt"
	"io"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/targets"
	"github.com/servebench/servebench/metrics/vllm"
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
		interference(&b, part.Interference(), "while all were loaded ("+between(window)+")", "alone")
		for _, s := range part.Shared {
			fmt.Fprintf(&b, "%s: %s\n", s.Header.TargetName(), inside(s))
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
		fmt.Fprintf(&b, "\nWhile all targets were loaded, %s\n", between(window))
		for _, s := range g.Within(window).Shared {
			fmt.Fprintf(&b, "\n%s: %s\n", s.Header.TargetName(), inside(s))
			vllm.Block(&b, s, v)
		}
		all := total.Within(window)
		fmt.Fprintf(&b, "\nAll targets: %s\n", inside(all))
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
	o := pyjson.Object{{Key: "group", Value: g.ID}, {Key: "total", Value: result(total, v)},
		{Key: "interference", Value: interferenceObject(g.Interference())}}
	var loaded any
	if at, ok := g.Loaded(); ok {
		part := g.Within(at)
		targets := pyjson.Object{}
		for _, s := range part.Shared {
			targets = targets.With(s.Header.Target, windowObject(s))
		}
		loaded = pyjson.Object{
			{Key: "from_s", Value: at.From.Seconds()}, {Key: "to_s", Value: at.To.Seconds()},
			{Key: "targets", Value: targets}, {Key: "total", Value: windowObject(total.Within(at))},
			{Key: "interference", Value: interferenceObject(part.Interference())},
		}
	}
	_, err := w.Write(pyjson.Append(nil, o.With("loaded", loaded)))
	return err
}
