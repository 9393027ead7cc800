package compare

import (
	"slices"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/compare/brief"
)

// The names to choose from are the arms, if there are several.
func TestArmNamesAreTheArms(t *testing.T) {
	run := func(arm, label, target string) *metrics.Summary {
		h := &metrics.Header{Target: target, Config: metrics.Config{Label: label}}
		if arm != "" {
			h.Config.Metadata = []metrics.KV{{Key: "arm", Value: arm}}
		}
		return &metrics.Summary{Header: h}
	}
	for want, sums := range map[string][]*metrics.Summary{
		"with, without":          {run("with", "l", "a"), run("without", "l", "a"), run("with", "l", "b")},
		"l, a, with, b":          {run("with", "l", "a"), run("with", "l", "b")},
		"old, new":               {run("", "old", ""), run("", "new", "")},
		"no names in these runs": {run("", "", "")},
	} {
		if got := listed(ArmNames(brief.Runs(sums))); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestRunsWithoutAnArmHaveNoName(t *testing.T) {
	runs := []*brief.Run{{Asked: map[string]string{asked.Arm: "server"}, Source: brief.Source{Arms: []string{"server"}}}, {}}
	if got := ArmNames(runs); !slices.Equal(got, []string{"server"}) {
		t.Errorf("%q", got)
	}
}
