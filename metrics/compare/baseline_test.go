package compare

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
)

func ttfts(values ...float64) []*brief.Run {
	return alike(len(values), func(i int, r *brief.Run) { r.Numbers["median_ttft"] = values[i] })
}

// on says on which day of January runs began, one each hour.
func on(day int) func(int, *brief.Run) {
	return func(i int, r *brief.Run) { r.Began = time.Date(2026, 1, day, i, 0, 0, 0, time.UTC) }
}

// baseline is a baseline of these sessions.
func baseline(t testing.TB, gate gating.Gate, sessions ...[]*brief.Run) *Baseline {
	t.Helper()
	var b Baseline
	for _, runs := range sessions {
		if err := b.Add(runs, gate); err != nil {
			t.Fatal(err)
		}
	}
	return &b
}

// reread is the baseline as read from the file that it writes.
func reread(t *testing.T, b *Baseline) *Baseline {
	t.Helper()
	var file bytes.Buffer
	if err := b.Write(&file); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(file.String(), "\n"); lines != len(b.sessions) {
		t.Errorf("%d lines for %d sessions", lines, len(b.sessions))
	}
	got, err := readBaseline(&file)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestBaselineIsReadAsWritten(t *testing.T) {
	b := baseline(t, gating.Gate{}, alike(4, func(i int, r *brief.Run) { r.Began = time.Time{} }), alike(2, on(4)), alike(3, on(3)))
	runs := reread(t, b).Runs()
	var sessions []string
	for _, r := range runs {
		sessions = append(sessions, r.Session)
	}
	if want := []string{"session 1", "2026-01-03 00:00:00", "2026-01-04 00:00:00"}; len(runs) != 9 || !slices.Equal(slices.Compact(sessions), want) {
		t.Errorf("%q", sessions)
	}
	if !maps.Equal(runs[1].Numbers, b.Runs()[1].Numbers) || !maps.Equal(runs[1].Asked, b.Runs()[1].Asked) {
		t.Errorf("%+v", runs[1])
	}
}

func TestBadRunsAreNoBaseline(t *testing.T) {
	named := func(_ int, r *brief.Run) { r.ID = "r" }
	for _, test := range []struct {
		name   string
		before []*brief.Run
		runs   []*brief.Run
		want   string
	}{
		{"none", nil, nil, "a baseline needs a run"},
		{"failed", nil, alike(4, func(i int, r *brief.Run) { r.Failed = i }), "run 2: 1 of 101 requests failed"},
		{"text block", nil, alike(4, func(_ int, r *brief.Run) { r.Asked = nil }), "run 1: a result block"},
		{"twice", nil, alike(4, named), "run r is there twice"},
		{"kept before", alike(1, named), alike(1, named), "run r is there twice"},
		{"another model", alike(2), alike(2, asks("model", "n")), "model is m in the old runs and n in the new ones: begin a new baseline"},
		{"cut", nil, alike(4, func(_ int, r *brief.Run) { r.Doubts = []string{"it was cut short"} }), "run 1: it was cut short"},
	} {
		var b Baseline
		if test.before != nil {
			b = *baseline(t, gating.Gate{}, test.before)
		}
		if err := b.Add(test.runs, gating.Gate{}); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
		if got := len(b.Runs()); got != len(test.before) {
			t.Errorf("%s: %d runs were kept", test.name, got)
		}
	}
	for text, want := range map[string]string{
		"":                           "it is not a baseline",
		`{"v": 1}`:                   "it is not a baseline",
		`{"servebench_baseline": 3}`: "it has version 3, and this servebench reads version 2 only",
		`{"servebench_baseline": 1}`: "it has version 1, and this servebench reads version 2 only",
		`{"servebench_baseline": 2}`: "session 1 of the baseline has no runs",
		`{"servebench_baseline": 2, "runs": [{}]}`:                                     "session 1 of the baseline: run 1 has no numbers",
		`{"servebench_baseline": 2, "runs": [{"numbers": {"a": 1}}]} {"serve`:          "session 2: unexpected EOF",
		`{"servebench_baseline": 2, "runs": [{"numbers": {"a": 1}}]} {"v": 1, "k": 2}`: "session 2: it is not a baseline",
	} {
		if _, err := readBaseline(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What a gate lets pass may be kept to compare with.
func TestGateSaysWhichRunsMakeABaseline(t *testing.T) {
	doubtful := alike(4, func(_ int, r *brief.Run) { r.Doubts, r.Failed = []string{"SUSPECT: lag"}, 1 })
	var b Baseline
	if err := b.Add(doubtful, gating.Gate{Allowed: 0.01}); err == nil || !strings.Contains(err.Error(), "SUSPECT: lag") {
		t.Errorf("%v", err)
	}
	if err := b.Add(doubtful, gating.Gate{Despite: []string{"suspect"}}); err == nil || !strings.Contains(err.Error(), "1 of 101 requests failed") {
		t.Errorf("%v", err)
	}
	if err := b.Add(doubtful, gating.Gate{Allowed: 0.01, Despite: []string{"suspect"}}); err != nil || len(b.Runs()) != 4 {
		t.Errorf("%v", err)
	}
}

// A baseline may be kept although no later run gets a verdict from it: then it says why.
func TestBaselineWarnsOfNoVerdict(t *testing.T) {
	perRun := gating.Default()
	perRun.Unit = gating.PerRun
	day := func(day int, ttft float64) []*brief.Run {
		return alike(4, on(day), times("median_ttft", ttft))
	}
	spread := alike(6, func(i int, r *brief.Run) { r.Numbers["median_ttft"] *= []float64{0.5, 1, 2}[i%3] })
	for _, test := range []struct {
		name     string
		gate     gating.Gate
		sessions [][]*brief.Run
		want     string // of the warnings; "" for none
	}{
		{"one", gating.Default(), [][]*brief.Run{alike(6)}, "the baseline has 1 session: how much days differ is unknown, and shows from 4 on; --unit start or --unit run decides on this session only"},
		{"three", gating.Default(), [][]*brief.Run{day(1, 1), day(2, 1), day(3, 1)}, "the baseline has 3 sessions: how much days differ is unknown, and shows from 4 on; --unit start or --unit run decides on these sessions only"},
		{"good", gating.Default(), [][]*brief.Run{day(1, 1), day(2, 1.01), day(3, 1), day(4, 0.99)}, ""},
		{"noisy", gating.Default(), [][]*brief.Run{day(1, 1), day(2, 1.1), day(3, 0.9), day(4, 1)}, "median_ttft: the sessions differ so much that a change of +24.1 % may be chance; the margin is 5 %: keep more sessions, or widen the margin"},
		{"changed", gating.Default(), [][]*brief.Run{day(1, 1), day(2, 1), day(3, 1.01), day(4, 1), day(5, 1), day(6, 1.03), day(7, 1.04), day(8, 1.03), day(9, 1.03), day(10, 1.04)}, "median_ttft changed by +3.2 % with the baseline session of 2026-01-06 00:00:00 (p="},
		{"of one day", gating.Default(), [][]*brief.Run{alike(1, on(1)), alike(1, on(1), named(1)), alike(1, on(1), named(2)), alike(1, on(1), named(3))}, "the 4 baseline sessions are of one day, so they do not show how much days differ"},
		{"few", perRun, [][]*brief.Run{alike(4)}, "the baseline has 4 runs, and the gate needs 6"},
		{"enough", perRun, [][]*brief.Run{alike(6)}, ""},
		{"noisy runs", perRun, [][]*brief.Run{spread}, "median_ttft: the runs differ so much that a change of +188.7 % may be chance"},
		{"noisy runs of a session", gating.Default(), [][]*brief.Run{spread}, "the baseline has 1 session: how much days differ is unknown, and shows from 4 on; --unit start or --unit run decides on this session only\nmedian_ttft: the runs differ so much"},
	} {
		b := baseline(t, test.gate, test.sessions...)
		got := strings.Join(b.Warnings(test.gate), "\n")
		if !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
			t.Errorf("%s: %q", test.name, got)
		}
	}
}

func TestBaselineSaysHowMuchSessionsDiffer(t *testing.T) {
	gate := gating.Default()
	gate.Limits = gate.Limits[1:2]
	for _, test := range []struct {
		sessions [][]*brief.Run
		want     string
	}{
		{[][]*brief.Run{ttfts(100)}, "1 session, 1 run\n"},
		// numpy 2.4.6: std(log(values), ddof=1), the root of the mean of its squares, and of the means of the logarithms.
		{[][]*brief.Run{ttfts(100, 103, 98, 101)}, "1 session, 4 runs\nstandard deviation of median_ttft: 2.1 % within a session\n"},
		{[][]*brief.Run{ttfts(100, 103, 98, 101), ttfts(104, 106)}, "2 sessions, 6 runs\nstandard deviation of median_ttft: 1.7 % within a session, 3.1 % between sessions\n"},
	} {
		var text strings.Builder
		if err := baseline(t, gate, test.sessions...).Describe(&text, gate); err != nil || text.String() != test.want {
			t.Errorf("%v, %q, want %q", err, text.String(), test.want)
		}
	}
}

// All runs of a baseline came before the new ones, and a reader knows it.
func TestBaselineComesBefore(t *testing.T) {
	old, new := alike(6, on(1)), alike(6, on(2))
	const note = "all runs of one side came before all of the other"
	gate := gating.Default()
	gate.Unit = gating.PerRun
	if c := Compare(old, new, gate); !strings.Contains(strings.Join(c.Notes, "\n"), note) {
		t.Errorf("%q", c.Notes)
	}
	if c := Compare(baseline(t, gate, old).Runs(), new, gate); strings.Contains(strings.Join(c.Notes, "\n"), note) || c.Points[0].Design != OneAfterOther {
		t.Errorf("%s, %q", c.Points[0].Design, c.Notes)
	}
}

func FuzzReadBaseline(f *testing.F) {
	var file bytes.Buffer
	if err := baseline(f, gating.Gate{}, alike(4), alike(2, on(2)), alike(2, on(3)), alike(2, on(4))).Write(&file); err != nil {
		f.Fatal(err)
	}
	f.Add(file.String())
	f.Add(`{"servebench_baseline": 2, "runs": [null]}`)
	f.Fuzz(func(t *testing.T, text string) {
		b, err := readBaseline(strings.NewReader(text))
		if err != nil {
			return
		}
		if c := Compare(b.Runs(), alike(6), gating.Default()); c.Verdict == "" {
			t.Error("no verdict at all")
		}
		b.Warnings(gating.Default())
	})
}
