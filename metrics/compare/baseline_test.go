package compare

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

func ttfts(values ...float64) []*Run {
	return alike(len(values), func(i int, r *Run) { r.Numbers["median_ttft"] = values[i] })
}

// numpy 2.4.6: 2.8 · std(log(values), ddof=1).
func TestNoiseFloorIsTheRepeatabilityLimit(t *testing.T) {
	b, err := NewBaseline(ttfts(100, 103, 98, 101), Gate{})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.Noise["median_ttft"]; !near(got, 0.058010178490065456) {
		t.Errorf("%v", got)
	}
	if _, known := b.Noise["goodput"]; known {
		t.Errorf("of goodput nothing is known: %v", b.Noise)
	}
	for _, rate := range []string{"4", "nought", "inf 2"} { // some come before inf, some after
		loads := slices.Concat(ttfts(100, 103, 98, 101), alike(4, asks("request-rate", rate)))
		if b, err = NewBaseline(loads, Gate{}); err != nil || !near(b.Noise["median_ttft"], 0.058010178490065456) {
			t.Errorf("runs under another load are not alike: %v, %v", b.Noise["median_ttft"], err)
		}
	}
}

func TestNoMarginIsLessThanTheNoiseFloor(t *testing.T) {
	gate := DefaultGate()
	gate.Noise = map[string]float64{"median_ttft": 0.09}
	if c := Compare(alike(6), alike(6, times("median_ttft", 1.08)), gate); c.Verdict != Pass || c.Points[0].find("median_ttft").Margin != 0.09 {
		t.Errorf("8 %% are noise: %s %q", c.Verdict, c.Reasons)
	}
	if c := Compare(alike(6), alike(6, times("median_ttft", 1.11)), gate); c.Verdict != Regressed {
		t.Errorf("11 %% are not: %s", c.Verdict)
	}
	gate.Noise["median_ttft"] = 0.4
	if c := Compare(alike(6), alike(6, times("median_ttft", 1.3)), gate); c.Verdict != NoVerdict || !strings.Contains(c.Reasons[0], "runs of the baseline differ by 40 %; the margin is 5 %: make the baseline again on a quieter machine, or widen the margin") {
		t.Errorf("a blind gate lets nothing pass: %s %q", c.Verdict, c.Reasons)
	}
}

func TestBaselineIsReadAsWritten(t *testing.T) {
	b, err := NewBaseline(ttfts(100, 103, 98, 101), Gate{})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := b.Write(&file); err != nil {
		t.Fatal(err)
	}
	got, err := readBaseline(&file)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(got.Noise, b.Noise) || len(got.Runs) != 4 || !maps.Equal(got.Runs[1].Numbers, b.Runs[1].Numbers) || !maps.Equal(got.Runs[1].Asked, b.Runs[1].Asked) {
		t.Errorf("%+v", got)
	}
}

func TestBadRunsAreNoBaseline(t *testing.T) {
	for _, test := range []struct {
		name string
		runs []*Run
		want string
	}{
		{"one", alike(1), "a baseline needs at least two runs"},
		{"failed", alike(4, func(i int, r *Run) { r.Failed = i }), "run 2: 1 of 101 requests failed"},
		{"text block", alike(4, func(_ int, r *Run) { r.Asked = nil }), "run 1: a result block"},
		{"twice", alike(4, func(_ int, r *Run) { r.ID = "r" }), "run r is there twice"},
		{"cut", alike(4, func(_ int, r *Run) { r.Doubts = []string{"it was cut short"} }), "run 1: it was cut short"},
	} {
		if _, err := NewBaseline(test.runs, Gate{}); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	for text, want := range map[string]string{
		"":                           "it is not a baseline",
		`{"v": 1}`:                   "it is not a baseline",
		`{"servebench_baseline": 2}`: "it has version 2, and this servebench reads version 1",
		`{"servebench_baseline": 1}`: "the baseline has no runs",
		`{"servebench_baseline": 1, "runs": [{}]}`: "run 1 of the baseline has no numbers",
	} {
		if _, err := readBaseline(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What a gate lets pass may be kept to compare with.
func TestGateSaysWhichRunsMakeABaseline(t *testing.T) {
	doubtful := alike(4, func(_ int, r *Run) { r.Doubts, r.Failed = []string{"SUSPECT: lag"}, 1 })
	if _, err := NewBaseline(doubtful, Gate{Allowed: 0.01}); err == nil || !strings.Contains(err.Error(), "SUSPECT: lag") {
		t.Errorf("%v", err)
	}
	if _, err := NewBaseline(doubtful, Gate{Despite: []string{"suspect"}}); err == nil || !strings.Contains(err.Error(), "1 of 101 requests failed") {
		t.Errorf("%v", err)
	}
	if b, err := NewBaseline(doubtful, Gate{Allowed: 0.01, Despite: []string{"suspect"}}); err != nil || len(b.Runs) != 4 {
		t.Errorf("%v", err)
	}
}

// A baseline may be kept although no later run gets a verdict from it: then it says why.
func TestBaselineWarnsOfNoVerdict(t *testing.T) {
	for _, test := range []struct {
		name string
		runs []*Run
		want []string
	}{
		{"good", alike(6), nil},
		{"few", alike(2), []string{"the baseline has 2 runs, and the gate needs 6 for a verdict on as many new ones"}},
		{"noisy", ttfts(100, 140, 98, 101, 99, 102), []string{"median_ttft: runs of the baseline differ by 39 %; the margin is 5 %: make the baseline again on a quieter machine, or widen the margin"}},
	} {
		b, err := NewBaseline(test.runs, DefaultGate())
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Warnings(DefaultGate()); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q", test.name, got)
		}
	}
}

// All runs of a baseline came before the new ones, and a reader knows it.
func TestBaselineComesBefore(t *testing.T) {
	began := func(day int) func(int, *Run) {
		return func(i int, r *Run) { r.Began = time.Date(2026, 1, day, i, 0, 0, 0, time.UTC) }
	}
	old, new := alike(6, began(1)), alike(6, began(2))
	gate := DefaultGate()
	if c := Compare(old, new, gate); !strings.Contains(strings.Join(c.Notes, "\n"), "all runs of one side came before all of the other") {
		t.Errorf("%q", c.Notes)
	}
	b, err := NewBaseline(old, gate)
	if err != nil {
		t.Fatal(err)
	}
	gate.Noise = b.Noise
	if c := Compare(b.Runs, new, gate); c.Notes != nil {
		t.Errorf("%q", c.Notes)
	}
}

func FuzzReadBaseline(f *testing.F) {
	b, err := NewBaseline(alike(4), Gate{})
	if err != nil {
		f.Fatal(err)
	}
	var file bytes.Buffer
	if err := b.Write(&file); err != nil {
		f.Fatal(err)
	}
	f.Add(file.String())
	f.Add(`{"servebench_baseline": 1, "runs": [null]}`)
	f.Fuzz(func(t *testing.T, text string) {
		b, err := readBaseline(strings.NewReader(text))
		if err != nil {
			return
		}
		gate := DefaultGate()
		gate.Noise = b.Noise
		if c := Compare(b.Runs, alike(6), gate); c.Verdict == "" {
			t.Error("no verdict at all")
		}
	})
}
