package brief

import (
	"os"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/verdict"
)

// Each disturbance is a check that docs/checks.md names.
func TestDisturbancesAreChecks(t *testing.T) {
	page, err := os.ReadFile("../../../docs/checks.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range disturbances {
		if !strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("docs/checks.md has no check %s", name)
		}
	}
}

// Only what disturbs the client makes a run disturbed; what the server may cause does not.
func TestServerDisturbsNoRun(t *testing.T) {
	for name, want := range map[string]string{"lag": "SUSPECT: late", "streaming": "", "prefix cache": "", "failed": "", "rate": "", verdict.FirstToken: ""} {
		s := &metrics.Summary{Header: &metrics.Header{}, Trust: &verdict.Trust{Verdict: verdict.Suspect, Checks: []verdict.Check{{Name: name, Text: "late"}}}}
		if got := Disturbance(s); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	used := &metrics.Summary{Header: &metrics.Header{Config: metrics.Config{Metadata: []metrics.KV{UsedAnyway}}}, Trust: &verdict.Trust{Checks: []verdict.Check{{Name: "lag", Text: "late"}}}}
	if got := Disturbance(used); got != "" {
		t.Errorf("a run of a sweep that is despite suspect: %q", got)
	}
	held := &metrics.Summary{Trust: &verdict.Trust{Checks: []verdict.Check{{Name: "lag", Text: verdict.HeldBack}}}}
	if got := Disturbance(held); got != "" {
		t.Errorf("requests that waited for a slot: %q", got)
	}
}
