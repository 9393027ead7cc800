package comparison

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"golang.org/x/perf/benchmath"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/pyjson"
)

// version is the version of a comparison's JSON, which docs/files.md describes. New
// members do not change it.
const version = 1

// ordered is a JSON object whose members keep their order.
type ordered []member

type member struct {
	key   string
	value any
}

// MarshalJSON writes the numbers as encoding/json does.
func (o ordered) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			text = append(text, ',')
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		text = append(append(strconv.AppendQuote(text, m.key), ':'), value...)
	}
	return append(text, '}'), nil
}

// inJSON writes a comparison as JSON. Unknown numbers are null.
func inJSON(w io.Writer, c *compare.Comparison) error {
	points := []ordered{}
	for _, p := range c.Points {
		rows := []ordered{}
		for i := range p.Rows {
			rows = append(rows, rowObject(&p.Rows[i]))
		}
		points = append(points, ordered{
			{"name", p.Name()}, {"old", some(p.Old)}, {"new", some(p.New)}, {"design", p.Design}, {"units", unitsObject(&p)},
			{"metrics", rows}, {"where", json.RawMessage(pyjson.Append(nil, Where(p.Where)))},
		})
	}
	text, err := json.MarshalIndent(ordered{
		{"v", version}, {"verdict", c.Verdict}, {"reasons", some(c.Reasons)}, {"notes", some(c.Notes)},
		{"alpha", c.Alpha}, {"unit", c.Unit}, {"runs_needed", c.Needed}, {"excludes", pyjson.Finite(c.Excludes)},
		{"points", points},
	}, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}

func rowObject(r *compare.Row) ordered {
	row := ordered{
		{"name", r.Number.Name}, {"unit", r.Number.Unit}, {"higher_is_better", r.Number.Better == metrics.Higher},
		{"old", medianObject(r.Old)}, {"new", medianObject(r.New)},
		{"from", pyjson.Finite(r.Effect.From)}, {"to", pyjson.Finite(r.Effect.To)}, {"change", pyjson.Finite(r.Effect.Share)},
		{"change_low", pyjson.Finite(r.Effect.Low)}, {"change_high", pyjson.Finite(r.Effect.High)},
		{"worse_at_least", pyjson.Finite(r.Effect.Least)}, {"worse_at_most", pyjson.Finite(r.Effect.Worst)},
		{"differences", some(r.Evidence.Differences)},
		{"p", pyjson.Finite(r.P)}, {"p_adjusted", pyjson.Finite(r.Adjusted)}, {"differs", r.Differs},
		{"gated", r.Judgement.Gated},
	}
	if r.Judgement.Unjudged {
		row = append(row, member{"unjudged", true})
	}
	if r.Evidence.Resampled {
		row = append(row, member{"resampled", true})
	}
	margin := math.NaN()
	if r.Judgement.Gated {
		margin = r.Judgement.Margin
	}
	return append(row, ordered{
		{"margin", pyjson.Finite(margin)}, {"finding", r.Judgement.Finding}, {"remarks", some(r.Remarks)},
		{"from_content", r.FromContent},
	}...)
}

func unitsObject(p *compare.Point) ordered {
	old, new := p.Units()
	return ordered{{"old", old}, {"new", new}}
}

func medianObject(s benchmath.Summary) ordered {
	return ordered{{"median", s.Center}, {"low", pyjson.Finite(s.Lo)}, {"high", pyjson.Finite(s.Hi)}}
}

// Where are the JSON objects of the changes of mean latencies in milliseconds, with their spans.
func Where(all []compare.Where) []any {
	objects := []any{}
	for i := range all {
		w := &all[i]
		spans := []any{}
		for _, c := range w.Spans {
			spans = append(spans, changeObject(c))
		}
		o := changeObject(w.Whole)
		o.Set("counted", w.Counted)
		o.Set("spans", spans)
		objects = append(objects, o)
	}
	return objects
}

func changeObject(c compare.Change) pyjson.Object {
	return pyjson.Object{
		{Key: "name", Value: c.Name},
		{Key: "old_ms", Value: pyjson.Finite(c.Old)}, {Key: "new_ms", Value: pyjson.Finite(c.New)},
		{Key: "change_ms", Value: pyjson.Finite(c.Value)},
		{Key: "low_ms", Value: pyjson.Finite(c.Low)}, {Key: "high_ms", Value: pyjson.Finite(c.High)},
	}
}

// some is list, or an empty list for nil.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
