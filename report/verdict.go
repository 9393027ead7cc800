package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// reassuring are the checks whose figures stand in the line of a VALID run.
var reassuring = []string{"completed", "rate", "lag", "socket age", "wake-up", "own CPU"}

// Verdict writes whether the run can be believed, as one line: VALID with the
// figures that make it so, or SUSPECT or OVERLOADED with the reasons. It writes nothing for a
// Summary without Trust. The notes are Truth's to write.
func Verdict(w io.Writer, s *metrics.Summary) error {
	if s.Trust == nil {
		return nil
	}
	var reasons []string
	for _, c := range s.Trust.Failed() {
		if c.Remedy != "" {
			c.Text += ": " + c.Remedy
		}
		reasons = append(reasons, c.Text)
	}
	for _, c := range s.Trust.Checks {
		if s.Trust.Verdict == metrics.Valid && slices.Contains(reassuring, c.Name) {
			reasons = append(reasons, c.Text)
		}
	}
	_, err := fmt.Fprintf(w, "%s: %s\n", s.Trust.Verdict, strings.Join(reasons, "; "))
	return err
}
