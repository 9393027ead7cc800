package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/verdict"
)

// reassuring are the checks whose figures are in the line of a VALID run.
var reassuring = []string{"completed", "rate", "lag", "socket age", "wake-up", "own CPU"}

// Verdict writes whether to believe the run, as one line: VALID with its figures, or SUSPECT or
// OVERLOADED with the reasons. It writes nothing for a Summary without Trust. Truth writes the
// notes.
func Verdict(w io.Writer, s *metrics.Summary) error {
	if s.Trust == nil {
		return nil
	}
	_, err := fmt.Fprintf(w, "%s: %s\n", s.Trust.Verdict, strings.Join(Reasons(s.Trust), "; "))
	return err
}

// Reasons are why a run is SUSPECT or OVERLOADED, in order of weight and with their remedies,
// or the figures that make it VALID.
func Reasons(t *verdict.Trust) (texts []string) {
	if t.Verdict == verdict.Valid {
		return reassurance(t)
	}
	for _, r := range reasonsOf(t) {
		texts = append(texts, r.String())
	}
	return texts
}

// reassurance are the figures that make a run VALID.
func reassurance(t *verdict.Trust) (texts []string) {
	for _, c := range t.Checks {
		if slices.Contains(reassuring, c.Name) {
			texts = append(texts, c.Text)
		}
	}
	return texts
}

// trustObject is the object of that name in a result file.
func trustObject(t *verdict.Trust) pyjson.Object {
	checks := []pyjson.Object{}
	for _, c := range t.Checks {
		limit := "at_most"
		if c.AtLeast {
			limit = "at_least"
		}
		checks = append(checks, pyjson.Object{
			{Key: "name", Value: c.Name},
			{Key: "figure", Value: pyjson.Finite(c.Figure)}, {Key: limit, Value: pyjson.Finite(c.Limit)},
			{Key: "unit", Value: c.Unit}, {Key: "ok", Value: c.OK}, {Key: "text", Value: c.Text},
			{Key: "remedy", Value: c.Remedy},
		})
	}
	return pyjson.Object{
		{Key: "verdict", Value: string(t.Verdict)}, {Key: "checks", Value: checks},
		{Key: "notes", Value: append([]string{}, t.Notes...)}, {Key: "warnings", Value: append([]string{}, t.Warnings...)},
	}
}
