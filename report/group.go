package report

import (
	"io"

	"github.com/servebench/servebench/metrics"
)

// TargetHeading says which target a run is of, and whether it was alone.
func TargetHeading(s *metrics.Summary) string {
	if s.Header.Solo {
		return s.Header.Target + " alone"
	}
	return s.Header.Target
}

// Group writes what the targets of a group did together.
func Group(w io.Writer, g *metrics.Group, v Version) error { return nil }
