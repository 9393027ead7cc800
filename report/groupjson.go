package report

import (
	"io"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
)

// GroupJSON writes what Group does as one object on one line without an end,
// formatted as JSON formats a run. What is not known is null.
func GroupJSON(w io.Writer, g *metrics.Group, v Version) error {
	if len(g.Shared) < 2 {
		return nil
	}
	var d dict
	total := g.Total()
	d.set("group", g.ID)
	d.set("total", result(total, v))
	d.set("interference", interfered(g.Interference()))
	d.set("loaded", nil)
	if at, ok := g.Loaded(); ok {
		part := g.Within(at)
		targets := pyjson.Object{}
		for _, s := range part.Shared {
			targets = targets.With(s.Header.Target, windowObject(s))
		}
		d.set("loaded", pyjson.Object{
			{Key: "from_s", Value: at.From.Seconds()}, {Key: "to_s", Value: at.To.Seconds()},
			{Key: "targets", Value: targets}, {Key: "total", Value: windowObject(total.Within(at))},
			{Key: "interference", Value: interfered(part.Interference())},
		})
	}
	_, err := w.Write(pyjson.Append(nil, d.Object))
	return err
}

// interfered is the object of Interference: of each target what it was measured
// at, under the names of metrics.Measures.
func interfered(in *metrics.Interference) pyjson.Object {
	targets, fairness := pyjson.Object{}, pyjson.Object{}
	for i := range in.Effects {
		e := &in.Effects[i]
		var d dict
		d.set("shared", measures(e.Shared))
		if e.Alone != nil {
			d.set("alone", measures(e.Alone))
			d.set("slowdown", slowdowns(e))
		}
		targets = targets.With(e.Target, d.Object)
	}
	for _, f := range in.Fairness {
		fairness = fairness.With(f.Of, pyjson.Object{{Key: "jain", Value: finite(f.Jain)}, {Key: "most_to_least", Value: finite(f.Ratio)}})
	}
	return pyjson.Object{
		{Key: "targets", Value: targets}, {Key: "fairness", Value: fairness}, {Key: "bound_by_rate", Value: append([]string{}, in.Bound...)},
	}
}

// measures have their unit in their keys where it is milliseconds.
func measures(s *metrics.Summary) pyjson.Object {
	var d dict
	for _, m := range metrics.Measures {
		key := m.Name
		if !m.Rate {
			key += "_ms"
		}
		d.set(key, finite(m.Of(s)))
	}
	return d.Object
}

func slowdowns(e *metrics.Effect) pyjson.Object {
	var d dict
	for _, m := range metrics.Measures {
		d.set(m.Name, finite(e.Slowdown(m)))
	}
	return d.Object
}
