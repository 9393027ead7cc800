package report

import (
	"bytes"
	"fmt"
	"io"

	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/vllm"
)

// Group writes what the targets of a group did together and to each other, in the whole
// run and again while all were loaded. It writes nothing for fewer than two targets.
func Group(w io.Writer, g *compare.Group, v vllm.Version) error {
	if len(g.Shared) < 2 {
		return nil
	}
	var b bytes.Buffer
	total := g.Total()
	b.WriteString("\nAll targets\n")
	vllm.Block(&b, total, v) // a buffer takes everything
	interference(&b, g.Interference(), "with the others", "alone")
	window, ok := g.Loaded()
	if !ok {
		b.WriteString("\nAt no time were all targets loaded\n")
		_, err := w.Write(b.Bytes())
		return err
	}
	part := g.Within(window)
	fmt.Fprintf(&b, "\nWhile all targets were loaded, %s\n", between(window))
	for _, s := range part.Shared {
		fmt.Fprintf(&b, "\n%s: %s\n", s.Header.TargetName(), inside(s.Part))
		vllm.Block(&b, s, v)
	}
	all := total.Within(window)
	fmt.Fprintf(&b, "\nAll targets: %s\n", inside(all.Part))
	vllm.Block(&b, all, v)
	interference(&b, part.Interference(), "while all were loaded", "alone while its load was on")
	_, err := w.Write(b.Bytes())
	return err
}

// GroupJSON writes the same as one object on one line without an end, formatted as JSON
// formats a run. Unknown numbers are null.
func GroupJSON(w io.Writer, g *compare.Group, v vllm.Version) error {
	if len(g.Shared) < 2 {
		return nil
	}
	total := g.Total()
	o := pyjson.Object{{Key: "group", Value: g.ID}, {Key: "total", Value: result(total, v)}, {Key: "interference", Value: interferenceObject(g.Interference())}}
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
