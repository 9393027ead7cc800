package report

import (
	"encoding/json"
	"fmt"
	"io"

	"golang.org/x/perf/benchmath"

	"github.com/servebench/servebench/metrics/compare"
)

// comparisonVersion is the version of a comparison's JSON, which docs/compare.md
// describes. Members may be added without another.
const comparisonVersion = 1

type jsonComparison struct {
	Version int             `json:"v"`
	Verdict compare.Verdict `json:"verdict"`
	Reasons []string        `json:"reasons"`
	Notes   []string        `json:"notes"`
	Alpha   float64         `json:"alpha"`
	Needed  int             `json:"runs_needed"`
	Points  []jsonPoint     `json:"points"`
}

type jsonPoint struct {
	Name    string         `json:"name"`
	Old     []*compare.Run `json:"old"`
	New     []*compare.Run `json:"new"`
	Metrics []jsonRow      `json:"metrics"`
}

type jsonRow struct {
	Name     string          `json:"name"`
	Unit     string          `json:"unit"`
	Higher   bool            `json:"higher_is_better"`
	Old      jsonMedian      `json:"old"`
	New      jsonMedian      `json:"new"`
	Change   any             `json:"change"`
	Low      any             `json:"change_low"`
	High     any             `json:"change_high"`
	P        any             `json:"p"`
	Adjusted any             `json:"p_adjusted"`
	Differs  bool            `json:"differs"`
	Gated    bool            `json:"gated"`
	Unjudged bool            `json:"unjudged,omitempty"`
	Margin   any             `json:"margin"`
	Finding  compare.Finding `json:"finding"`
	Remarks  []string        `json:"remarks"`

	FromContent bool `json:"from_content"`
}

type jsonMedian struct {
	Median float64 `json:"median"`
	Low    any     `json:"low"`
	High   any     `json:"high"`
}

// comparisonJSON writes a comparison as JSON. Numbers that are not known are null.
func comparisonJSON(w io.Writer, c *compare.Comparison) error {
	out := jsonComparison{
		Version: comparisonVersion, Verdict: c.Verdict, Reasons: some(c.Reasons), Notes: some(c.Notes),
		Alpha: c.Alpha, Needed: c.Needed, Points: []jsonPoint{},
	}
	for _, p := range c.Points {
		point := jsonPoint{Name: p.Name(), Old: some(p.Old), New: some(p.New), Metrics: []jsonRow{}}
		for i := range p.Rows {
			point.Metrics = append(point.Metrics, jsonRowOf(&p.Rows[i]))
		}
		out.Points = append(out.Points, point)
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}

func jsonRowOf(r *compare.Row) jsonRow {
	row := jsonRow{
		Name: r.Name, Unit: r.Unit, Higher: r.Higher, Old: jsonMedianOf(r.Old), New: jsonMedianOf(r.New),
		Change: finite(r.Effect.Share), Low: finite(r.Effect.Low), High: finite(r.Effect.High), P: finite(r.P),
		Adjusted: finite(r.Adjusted), Differs: r.Differs, Gated: r.Gated, Unjudged: r.Unjudged, Finding: r.Finding, Remarks: some(r.Remarks),
		FromContent: r.FromContent,
	}
	if r.Gated {
		row.Margin = finite(r.Margin)
	}
	return row
}

func jsonMedianOf(s benchmath.Summary) jsonMedian {
	return jsonMedian{s.Center, finite(s.Lo), finite(s.Hi)}
}

// some is list, and an empty one for none.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
