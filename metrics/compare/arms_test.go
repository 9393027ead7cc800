package compare

import (
	"slices"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/asked"
)

func TestArmsAreKnownByLabelTargetAndMetadata(t *testing.T) {
	for _, test := range []struct {
		header metrics.Header
		want   []string
	}{
		{metrics.Header{}, nil},
		{metrics.Header{Target: "a"}, []string{"a"}},
		{metrics.Header{Target: "a", Solo: true}, []string{"a alone"}},
		{metrics.Header{Config: metrics.Config{Label: "l", Metadata: []metrics.KV{{Key: "repeat", Value: "1"}, {Key: "arm", Value: "with"}}}}, []string{"l", "with"}},
	} {
		if got := armNames(&metrics.Summary{Header: &test.header}); !slices.Equal(got, test.want) {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

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
		if got := listed(ArmNames(Runs(sums))); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestRunsWithoutAnArmHaveNoName(t *testing.T) {
	runs := []*Run{{Asked: map[string]string{asked.Arm: "server"}, measured: measured{arms: []string{"server"}}}, {}}
	if got := ArmNames(runs); !slices.Equal(got, []string{"server"}) {
		t.Errorf("%q", got)
	}
}
