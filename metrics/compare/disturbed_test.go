package compare

import (
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
)

// Disturbed pairs are left out of a sequential sweep only, and not if SUSPECT runs count or no pair is left.
func TestDisturbedPairsAreLeftOut(t *testing.T) {
	run := func(name string, repeat, most int, why string) *brief.Run {
		return &brief.Run{Repeat: repeat, MaxPairs: most, Asked: map[string]string{asked.Arm: name}, Source: brief.Source{Disturbed: why}}
	}
	for name, row := range map[string]struct {
		most    int
		despite []string
		whys    [3]string
		kept    int
		note    string
	}{
		"one":          {20, nil, [3]string{"", "late", ""}, 2, "left out: 1 disturbed pair, repeat 2 (new: late)"},
		"two":          {20, nil, [3]string{"late", "", "later"}, 1, "left out: 2 disturbed pairs, repeats 1, 3 (the first: new: late)"},
		"all":          {20, nil, [3]string{"late", "late", "late"}, 3, "all 3 pairs were disturbed: the numbers are shown, and decide nothing"},
		"none":         {20, nil, [3]string{}, 3, ""},
		"suspect runs": {20, []string{"suspect"}, [3]string{"", "late", ""}, 3, ""},
		"other sweeps": {0, nil, [3]string{"", "late", ""}, 3, ""},
	} {
		var old, new []*brief.Run
		for i, why := range row.whys {
			old, new = append(old, run("old", i+1, row.most, "")), append(new, run("new", i+1, row.most, why))
		}
		var c Comparison
		keptOld, keptNew := c.undisturbed(old, new, &gating.Gate{Despite: row.despite})
		if len(keptOld) != row.kept || len(keptNew) != row.kept || strings.Join(c.Notes, "|") != row.note {
			t.Errorf("%s: %d and %d, %q", name, len(keptOld), len(keptNew), c.Notes)
		}
		if row.kept < 3 && slices.ContainsFunc(keptNew, func(r *brief.Run) bool { return r.Source.Disturbed != "" }) {
			t.Errorf("%s: a disturbed run is left", name)
		}
	}
}

// A reader counts the pairs that a sweep left out as the sweep did: each was disturbed four times in a row.
func TestPairsThatWereLeftOutAreCounted(t *testing.T) {
	for repeats, want := range map[string]int{"": 0, "xxx": 0, "xxxx": 1, ".xxxx.": 1, "xxx.xxx": 0, "xxxxxxx.xxxx": 2, "xxxxxxxx": 2} {
		disturbed := map[int]string{}
		var runs []*brief.Run
		for i, mark := range repeats {
			if runs = append(runs, &brief.Run{Repeat: i + 1}); mark == 'x' {
				disturbed[i+1] = "late"
			}
		}
		if got := spent(runs, disturbed); got != want {
			t.Errorf("%s: %d, want %d", repeats, got, want)
		}
	}
}
