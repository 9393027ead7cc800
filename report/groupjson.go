package report

import (
	"io"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/vllm"
)

// GroupJSON writes what Group does as one object on one line without an end,
// formatted as JSON formats a run. What is not known is null.
func GroupJSON(w io.Writer, g *compare.Group, v vllm.Version) error {
	if len(g.Shared) < 2 {
		return nil
	}
	var d vllm.Dict
	total := g.Total()
	d.Set("group", g.ID)
	d.Set("total", result(total, v))
	d.Set("interference", interfered(g.Interference()))
	d.Set("loaded", nil)
	if at, ok := g.Loaded(); ok {
		part := g.Within(at)
		targets := pyjson.Object{}
		for _, s := range part.Shared {
			targets = targets.With(s.Header.Target, windowObject(s))
		}
		d.Set("loaded", pyjson.Object{
			{Key: "from_s", Value: at.From.Seconds()}, {Key: "to_s", Value: at.To.Seconds()},
			{Key: "targets", Value: targets}, {Key: "total", Value: windowObject(total.Within(at))},
			{Key: "interference", Value: interfered(part.Interference())},
		})
	}
	_, err := w.Write(pyjson.Append(nil, d.Object))
	return err
}

// interfered is the object of Interference: of each target what it was measured
// at, under the names of compare.Measures.
func interfered(in *compare.Interference) pyjson.Object {
	targets, fairness := pyjson.Object{}, pyjson.Object{}
	for i := range in.Effects {
		e := &in.Effects[i]
		var d vllm.Dict
		d.Set("shared", measures(e.Shared))
		if e.Alone != nil {
			d.Set("alone", measures(e.Alone))
			d.Set("slowdown", slowdowns(e))
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
	var d vllm.Dict
	for _, m := range compare.Measures {
		key := m.Name
		if !m.Rate {
			key += "_ms"
		}
		d.Set(key, finite(m.Of(s)))
	}
	return d.Object
}

func slowdowns(e *compare.Sharing) pyjson.Object {
	var d vllm.Dict
	for _, m := range compare.Measures {
		d.Set(m.Name, finite(e.Slowdown(m)))
	}
	return d.Object
}
