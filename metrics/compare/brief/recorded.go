package brief

import (
	"fmt"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/gating"
)

// ruled are the metrics that the rule of a run gates and numbers.All lacks.
func ruled(s *metrics.Summary) []metrics.Number {
	if s.Header.Rule == nil {
		return nil
	}
	gate, err := gating.Parse(s.Header.Rule.Gate)
	if err != nil {
		return nil // Recorded says so
	}
	return gate.Extra()
}

// Recorded is the rule of the sequential sweep that made the runs, with its gate. It is nil, with the
// usual gate, unless all runs have one. Of several rules, such as of a sweep that went on
// despite another doubt, the one of the newest run counts, and notes say so.
func Recorded(runs []*Run) (rule *metrics.Rule, gate gating.Gate, notes []string, err error) {
	var newest *Run
	var texts []string
	for _, r := range runs {
		if r.Source.sum == nil || r.Source.sum.Header.Rule == nil {
			return nil, gating.Default(), nil, nil
		}
		texts = append(texts, r.Source.sum.Header.Rule.Gate)
		if newest == nil || r.Began.After(newest.Began) {
			newest = r
		}
	}
	if newest == nil {
		return nil, gating.Default(), nil, nil
	}
	rule = newest.Source.sum.Header.Rule
	if gate, err = gating.Parse(rule.Gate); err != nil {
		return nil, gating.Default(), nil, fmt.Errorf("run %s: the rule in its record stream: %w", newest.ID, err)
	}
	if rule.Instead != "" {
		notes = append(notes, Overruled(rule.Instead))
	}
	if len(metrics.Distinct(texts)) > 1 {
		notes = append(notes, "the runs recorded several rules: the one of the newest run counts, "+rule.Gate)
	}
	return rule, gate, notes, nil
}

// Overruled says that a reader's own flags are in force where a sweep has recorded a gate.
func Overruled(recorded string) string {
	return "the flags of the gate given here change the rule that the sweep recorded, which is " + recorded
}
