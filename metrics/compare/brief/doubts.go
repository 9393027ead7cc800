package brief

import (
	"fmt"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/verdict"
)

// gaps are what is missing from a run that was stopped or whose stream was cut.
func gaps(s *metrics.Summary) []string {
	var found []string
	switch {
	case s.Ending.StoppedBy != "":
		found = append(found, "it was stopped early by "+s.Ending.StoppedBy)
	case s.Ending.Interrupted:
		found = append(found, "it was stopped early")
	}
	return append(found, s.Ending.Incomplete...)
}

// doubts are why the numbers of a run cannot be trusted, although they are there.
func doubts(s *metrics.Summary) []string {
	found := suspicions(s)
	switch n := len(found); n {
	case 0:
		return nil
	case 1:
		return []string{"SUSPECT: " + found[0].Text}
	default:
		return []string{fmt.Sprintf("SUSPECT: %s; and %d more", found[0].Text, n-1)}
	}
}

// suspicions are the failed checks that are a reason to doubt all numbers of a run.
func suspicions(s *metrics.Summary) []verdict.Check {
	return failed(s, func(c verdict.Check) bool {
		return !firstToken(c) && !heldBack(c) && !slices.Contains(elsewhere, c.Name)
	})
}

// failed are the failed checks of a kind.
func failed(s *metrics.Summary, kind func(verdict.Check) bool) []verdict.Check {
	if s.Trust == nil {
		return nil
	}
	return slices.DeleteFunc(s.Trust.Failed(), func(c verdict.Check) bool { return !kind(c) })
}

// failedText is the text of the first failed check of a kind, "" if there is none.
func failedText(s *metrics.Summary, kind func(verdict.Check) bool) string {
	if found := failed(s, kind); len(found) > 0 {
		return found[0].Text
	}
	return ""
}

// firstToken says that TTFT counts an empty chunk as a token.
func firstToken(c verdict.Check) bool { return c.Name == verdict.FirstToken }

// heldBack says that requests were sent late because of the limit of the load.
func heldBack(c verdict.Check) bool { return strings.Contains(c.Text, verdict.HeldBack) }

// elsewhere are the checks that are no reason to doubt all numbers of a run. Failures, a backlog
// that grew and what is missing are handled separately. Percentiles of too few samples, which made runs of earlier
// versions SUSPECT, are marked one by one.
var elsewhere = []string{"samples", "completed", "failed", "backlog", "incomplete"}
