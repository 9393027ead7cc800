package report

import (
	"io"

	"github.com/servebench/servebench/metrics"
)

// Truth writes what the block cannot say, for a terminal of 100 columns: only
// lines that have something to say, and nothing for a Summary without Truth. The
// notes of its Trust follow.
func Truth(w io.Writer, s *metrics.Summary) error {
	return nil
}
