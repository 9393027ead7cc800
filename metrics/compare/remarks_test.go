package compare

import (
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
)

// prompted is a run that began so many minutes after the first.
func prompted(t *testing.T, id string, minute int, seed int64, ttft time.Duration) *metrics.Summary {
	t.Helper()
	s := greeted(t, id, ttft, false)
	s.Header.Epoch = time.Date(2026, 11, 1, 12, minute, 0, 0, time.UTC)
	s.Header.Config.Seed = seed
	return s
}

// As measured: the same command twice, on a server that keeps what it was sent.
func TestPromptsOfOneSeedMayBeInTheCache(t *testing.T) {
	const first, second = 51600 * time.Microsecond, 1620 * time.Microsecond
	const says = "in the later runs, which sent the same prompts (seed 0): the server may have had them in its prefix cache"
	told := prompted(t, "b", 5, 0, second)
	told.Evidence.PrefixQueries = 1000
	for name, c := range map[string]struct {
		old, new *metrics.Summary
		said     bool
	}{
		"the same again":       {prompted(t, "a", 0, 0, first), prompted(t, "b", 5, 0, second), true},
		"compared backwards":   {prompted(t, "a", 5, 0, second), prompted(t, "b", 0, 0, first), true},
		"another seed":         {prompted(t, "a", 0, 0, first), prompted(t, "b", 5, 1, second), false},
		"the later is slower":  {prompted(t, "a", 0, 0, second), prompted(t, "b", 5, 0, first), false},
		"a little quicker":     {prompted(t, "a", 0, 0, first), prompted(t, "b", 5, 0, first*8/10), false},
		"the server's own say": {prompted(t, "a", 0, 0, first), told, false},
	} {
		got := Compare(Runs([]*metrics.Summary{c.old}), Runs([]*metrics.Summary{c.new}), DefaultGate())
		if notes := strings.Join(got.Notes, "\n"); strings.Contains(notes, says) != c.said {
			t.Errorf("%s: notes %q", name, got.Notes)
		}
		if c.said && !strings.Contains(strings.Join(got.Notes, "\n"), "median_ttft is −96.9 %") {
			t.Errorf("%s: notes %q", name, got.Notes)
		}
	}
}

// Runs in turns find each other's prompts alike.
func TestRunsInTurnsShareTheCache(t *testing.T) {
	old := []*metrics.Summary{prompted(t, "a", 0, 0, 50*time.Millisecond), prompted(t, "b", 3, 0, 50*time.Millisecond)}
	new := []*metrics.Summary{prompted(t, "c", 1, 0, 5*time.Millisecond), prompted(t, "d", 2, 0, 5*time.Millisecond)}
	if c := Compare(Runs(old), Runs(new), DefaultGate()); strings.Contains(strings.Join(c.Notes, "\n"), "prefix cache") {
		t.Errorf("notes %q", c.Notes)
	}
}
