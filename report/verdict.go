package report

import (
	"fmt"
	"io"

	"github.com/servebench/servebench/metrics"
)

// Verdict writes whether the run can be believed, as one line: VALID with the
// figures that make it so, or SUSPECT with the reasons. It writes nothing for a
// Summary without Trust.
func Verdict(w io.Writer, s *metrics.Summary) error {
	if s.Trust == nil {
		return nil
	}
	_, err := fmt.Fprintf(w, "%s\n", s.Trust.Verdict)
	return err
}
