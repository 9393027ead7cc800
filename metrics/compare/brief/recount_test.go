package brief

import (
	"testing"

	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/record"
)

// countedBy is a run of a chat by those definitions.
func countedBy(d record.Definitions, recounts bool) *Run {
	r := &Run{Asked: map[string]string{}, Source: Source{recounts: recounts}}
	if d != "" {
		r.Asked[asked.Definitions] = string(d)
	}
	return r
}

func TestRunsAreCountedAlike(t *testing.T) {
	const d30, d33 = record.Definitions030, record.Definitions033
	for _, test := range []struct {
		name     string
		old, new *Run
		want     record.Definitions
	}{
		{"alike", countedBy(d30, true), countedBy(d30, true), ""},
		{"completions", countedBy("", true), countedBy("", true), ""},
		{"not known of one side", countedBy("", false), countedBy(d33, true), ""},
		{"the newer side's", countedBy(d30, true), countedBy(d33, true), d33},
		{"the newer side's, on the old side", countedBy(d33, true), countedBy(d30, true), d33},
		{"what cannot be counted anew decides", countedBy(d30, false), countedBy(d33, true), d30},
		{"neither can be counted anew", countedBy(d30, false), countedBy(d33, false), ""},
	} {
		if got := Recount([]*Run{test.old}, []*Run{test.new}); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	before, after := countedBy(d30, false), countedBy(d33, false)
	if found := asked.Differences([]asked.Parameters{before.Asked}, []asked.Parameters{after.Asked}, nil); len(found) != 1 {
		t.Errorf("two files of other definitions compare: %q", found)
	}
}
