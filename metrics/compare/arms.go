package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/compare/brief"
)

// Arm returns the runs of one arm. Its name may be the name of a sweep's arm, a label or
// a target. No such run is an error.
func Arm(runs []*brief.Run, name string) ([]*brief.Run, error) {
	of := slices.DeleteFunc(slices.Clone(runs), func(r *brief.Run) bool { return !slices.Contains(r.Source.Arms, name) })
	if len(of) == 0 {
		return nil, fmt.Errorf("no run is of %q: there are %s", name, listed(ArmNames(runs)))
	}
	return of, nil
}

// ArmNames are the names that Arm takes for these runs. If they are of several arms of a sweep,
// those are all: labels and targets are then names of their parts.
func ArmNames(runs []*brief.Run) []string {
	var names, arms []string
	for _, r := range runs {
		names, arms = append(names, r.Source.Arms...), append(arms, r.Asked[asked.Arm])
	}
	arms = slices.DeleteFunc(metrics.Distinct(arms), func(name string) bool { return name == "" })
	if len(arms) > 1 {
		return arms
	}
	return metrics.Distinct(names)
}

// listed are names in words.
func listed(names []string) string {
	return cmp.Or(strings.Join(names, ", "), "no names in these runs")
}
