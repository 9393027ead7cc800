package compare

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/record"
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
	told.Evidence.Server.PrefixQueries = 1000
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
		got := Compare(brief.Runs([]*metrics.Summary{c.old}), brief.Runs([]*metrics.Summary{c.new}), gating.Default())
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
	if c := Compare(brief.Runs(old), brief.Runs(new), gating.Default()); strings.Contains(strings.Join(c.Notes, "\n"), "prefix cache") {
		t.Errorf("notes %q", c.Notes)
	}
}

func TestNotesOnRequestsThatWaitedAndOnSuspectRuns(t *testing.T) {
	held := func(i int, r *brief.Run) {
		r.Asked["request-rate"], r.Asked["max-concurrency"], r.Held = "20", "50", "held back"
	}
	late := func(i int, r *brief.Run) {
		r.Doubts, r.Source.Remedy = []string{"SUSPECT: it lagged"}, "use more cores"
	}
	for _, test := range []struct {
		old, new []*brief.Run
		want     string
	}{
		{alike(4, held), alike(4, asks("request-rate", "20"), asks("max-concurrency", "50")),
			"all 4 old runs: --max-concurrency held requests back, so the requests were sent at a lower rate than 20 a second; all runs have the same limit of 50. TTFT leaves out the wait for a slot"},
		{alike(4), alike(4, late), "SUSPECT runs: use more cores, and repeat them; --despite suspect judges them as they are"},
	} {
		if c := Compare(test.old, test.new, gating.Default()); !slices.Equal(c.Notes, []string{test.want}) {
			t.Errorf("%q, want %q", c.Notes, test.want)
		}
	}
}

// What drifts, or comes with every second run, is a difference of sides that are always in one order.
func TestPairsInOneOrderSaySo(t *testing.T) {
	const labelled, unlabelled = false, true
	for _, test := range []struct {
		order string
		plain bool // without labels that make pairs
		first string
	}{
		{"ABABAB", labelled, "old"}, {"BABABA", labelled, "new"}, {"ABABABAB", unlabelled, "old"}, {"BABABABABA", unlabelled, "new"},
		{"ABBAAB", labelled, ""}, {"ABABBA", labelled, ""}, {"ABBAABBA", unlabelled, ""}, {"ABAABBAB", unlabelled, ""},
		{"ABAB", labelled, ""}, {"AAABBB", labelled, ""}, {"AAABBB", unlabelled, ""},
	} {
		old, new := arranged(test.order)
		if test.plain {
			for _, r := range slices.Concat(old, new) {
				r.Repeat, r.Asked[asked.Seed] = 0, "0"
			}
		}
		notes := strings.Join(Compare(old, new, gating.Gate{}).Notes, "\n")
		if said := strings.Contains(notes, "came first each time"); said != (test.first != "") || said && !strings.Contains(notes, "the "+test.first+" run came first each time") {
			t.Errorf("%s, unlabelled %v: %q", test.order, test.plain, notes)
		}
	}
	old, new := arranged("ABABAB")
	for i := range new {
		new[i].Began = old[i].Began
	}
	if notes := strings.Join(Compare(old, new, gating.Gate{}).Notes, "\n"); strings.Contains(notes, "came first") {
		t.Errorf("both at once: %q", notes)
	}
}

// A run that does not name its definitions may be counted differently from one that does.
func TestUnknownDefinitionsAreNoted(t *testing.T) {
	unknown := &brief.Run{Asked: asked.Parameters{}}
	unknown.Asked["backend"] = "openai-chat"
	told := &brief.Run{Asked: asked.Parameters{asked.Definitions: string(record.Definitions033)}}
	told.Asked["backend"] = "openai-chat"
	for _, test := range []struct {
		old, new *brief.Run
		notes    int
	}{{unknown, told, 1}, {told, told, 0}, {unknown, unknown, 0}} {
		var found reasons
		m := remarks{p: &Point{Sides: Sides{Old: []*brief.Run{test.old}, New: []*brief.Run{test.new}}}, reasons: &found}
		if m.definitions(); len(found.notes) != test.notes {
			t.Errorf("notes %q, want %d", found.notes, test.notes)
		}
	}
}
