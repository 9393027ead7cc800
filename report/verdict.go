package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/verdict"
	"github.com/servebench/servebench/report/reasons"
)

// Verdict writes whether to believe the run, as one line: VALID with its figures, or SUSPECT or
// OVERLOADED with the reasons. It writes nothing for a Summary without Trust. Truth writes the
// notes.
func Verdict(w io.Writer, s *metrics.Summary) error {
	if s.Trust == nil {
		return nil
	}
	_, err := fmt.Fprintf(w, "%s: %s\n", s.Trust.Verdict, strings.Join(reasons.Texts(s.Trust), "; "))
	return err
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
