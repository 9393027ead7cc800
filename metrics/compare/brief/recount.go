package brief

import (
	"slices"

	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/record"
)

// Recount are the definitions by which to recount recorded streams so that all runs use the same:
// the definitions of runs without single requests, which cannot be recounted, else the newest. It
// is empty if all runs use the same already, and if that is impossible.
func Recount(runs ...[]*Run) record.Definitions {
	var found, fixed []record.Definitions
	for _, r := range slices.Concat(runs...) {
		d := record.Definitions(r.Asked[asked.Definitions])
		if d == "" {
			continue
		}
		found = append(found, d)
		if !r.Source.recounts {
			fixed = append(fixed, d)
		}
	}
	older := func(a, b record.Definitions) int {
		if a.Older(b) {
			return -1
		}
		return 1
	}
	slices.SortFunc(found, older)
	slices.SortFunc(fixed, older)
	found, fixed = slices.Compact(found), slices.Compact(fixed)
	switch {
	case len(found) < 2 || len(fixed) > 1:
		return ""
	case len(fixed) == 1:
		return fixed[0]
	}
	return found[len(found)-1]
}
