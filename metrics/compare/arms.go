package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/asked"
)

// armNames are the names of a run's arm: a sweep's, its label, its target.
func armNames(s *metrics.Summary) []string {
	names := []string{s.Header.Config.Label, s.Header.TargetName(), metrics.Value(s.Header.Config.Metadata, asked.Arm)}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// Arm returns the runs of one arm. Its name may be the name of a sweep's arm, a label or
// a target. No such run is an error.
func Arm(runs []*Run, name string) ([]*Run, error) {
	of := slices.DeleteFunc(slices.Clone(runs), func(r *Run) bool { return !slices.Contains(r.measured.arms, name) })
	if len(of) == 0 {
		return nil, fmt.Errorf("no run is of %q: there are %s", name, listed(ArmNames(runs)))
	}
	return of, nil
}

// ArmNames are the names that Arm takes for these runs. If they are of several arms of a sweep,
// those are all: labels and targets are then names of their parts.
func ArmNames(runs []*Run) []string {
	var names, arms []string
	for _, r := range runs {
		names, arms = append(names, r.measured.arms...), append(arms, r.Asked[asked.Arm])
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
