package compare

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/compare/numbers"
)

func TestImprovementsAreFound(t *testing.T) {
	c := Compare(alike(6), alike(6, times("median_ttft", 0.5), times("output_throughput", 2)), gating.Default())
	for _, r := range c.Points[0].Rows {
		want := map[string]Finding{"median_ttft": Better, "output_throughput": Better, "median_tpot": Equivalent}[r.Number.Name]
		if r.Judgement.Finding != want {
			t.Errorf("%s: %q", r.Number.Name, r.Judgement.Finding)
		}
	}
}

// What a margin hides for one metric it does not for another, and both parts of a
// margin count.
func TestMargins(t *testing.T) {
	gate := gating.Default()
	gate.Limits[1].Relative, gate.Limits[1].Absolute = 0.02, 5
	if c := Compare(alike(6), alike(6, times("median_ttft", 1.12)), gate); c.Verdict != Pass {
		t.Errorf("4.8 ms are within 5 ms: %s %q", c.Verdict, c.Reasons)
	}
	if c := Compare(alike(6), alike(6, times("median_ttft", 1.13)), gate); c.Verdict != Regressed {
		t.Errorf("5.2 ms are not within 5 ms: %s", c.Verdict)
	}
	gate.Limits[1].Relative = 0.2
	if c := Compare(alike(6), alike(6, times("median_ttft", 1.13)), gate); c.Verdict != Pass {
		t.Errorf("13 %% are within 20 %%: %s %q", c.Verdict, c.Reasons)
	}
}

// With five margins' worth of a slowdown in each of its runs a side is regressed
// however many others are gated; of chance alone the more of them there are the
// more it takes.
func TestManyGatedNumbersTakeMoreRuns(t *testing.T) {
	gate := gating.Default()
	old, new := alike(4), alike(4, times("median_ttft", 1.3))
	if c := Compare(old, new, gate); c.Verdict != Regressed {
		t.Errorf("three gated: %s %q", c.Verdict, c.Reasons)
	}
	gate.Limits = append(gate.Limits, gating.Margin{Number: numbers.All()[0]})
	for _, r := range slices.Concat(old, new) {
		r.Numbers[numbers.All()[0].Name] = 1
	}
	if c := Compare(old, new, gate); c.Verdict != NoVerdict || c.Needed != 5 {
		t.Errorf("four gated: %s %q", c.Verdict, c.Reasons)
	}
}

func TestLoadsOfAGridAreComparedEachByItself(t *testing.T) {
	grid := func(name string, factor float64) []*brief.Run {
		return slices.Concat(alike(6, asks("request-rate", "4")), alike(6, asks("request-rate", "16"), times(name, factor)))
	}
	c := Compare(grid("median_ttft", 1), grid("median_ttft", 1.2), gating.Default())
	if len(c.Points) != 2 || c.Points[0].Name() != "request-rate 4" || c.Points[1].Name() != "request-rate 16" {
		t.Fatalf("%+v", c.Points)
	}
	if c.Verdict != Regressed || len(c.Reasons) != 1 || !strings.HasPrefix(c.Reasons[0], "request-rate 16: median_ttft +20.0 %") {
		t.Errorf("%s %q", c.Verdict, c.Reasons)
	}
	// A load that one side alone has is a difference.
	c = Compare(grid("median_ttft", 1), alike(6, asks("request-rate", "4")), gating.Default())
	if c.Verdict != NoVerdict || len(c.Points) != 1 || !strings.Contains(strings.Join(c.Reasons, "\n"), "request-rate is 4, 16 in the old runs and 4 in the new ones") {
		t.Errorf("%s %q", c.Verdict, c.Reasons)
	}
}

// A number below its floor may have got worse by more than its margin, too.
func TestBoundsAndChangesAreToldApart(t *testing.T) {
	gate := gating.Default()
	gate.Bounds = []gating.Bound{{Number: gate.Limits[0].Number, Least: 1000, Most: 1e9}}
	c := Compare(alike(6), alike(6, times("output_throughput", 0.4)), gate)
	if len(c.Reasons) != 2 || !strings.Contains(c.Reasons[0], "below its floor of 1000") || !strings.Contains(c.Reasons[1], "output_throughput −") {
		t.Errorf("%q", c.Reasons)
	}
}

func TestPercentHasNoNegativeZero(t *testing.T) {
	for share, want := range map[float64]string{-1e-9: "+0.0 %", -0.01: "−1.0 %", 0.5: "+50.0 %", math.Inf(1): "?"} {
		if got := Percent(share); got != want {
			t.Errorf("%v is %q, want %q", share, got, want)
		}
	}
}

// Why changes were not judged is said beside what is broken outright.
func TestDoubtsStandBesideARegression(t *testing.T) {
	c := Compare(alike(6), alike(6, asks("model", "n"), func(_ int, r *brief.Run) { r.Output = 0 }), gating.Default())
	if c.Verdict != Regressed || c.Judged || !slices.Contains(c.Notes, "not comparable: model is m in the old runs and n in the new ones") {
		t.Errorf("%s %t %q", c.Verdict, c.Judged, c.Notes)
	}
}

// A number that is gated and not known takes its part of alpha all the same.
func TestPBearsAllThatIsGated(t *testing.T) {
	unknown := func(_ int, r *brief.Run) { delete(r.Numbers, "median_tpot") }
	c := Compare(alike(6), alike(6, unknown, times("median_ttft", 2)), gating.Default())
	if r := c.Points[0].find("median_ttft"); !near(r.Adjusted, 3*r.P/2) {
		t.Errorf("p %v, adjusted %v", r.P, r.Adjusted)
	}
}

func TestTargetsAreComparedEachByItself(t *testing.T) {
	a, b := alike(6, asks(asked.Target, "a"), times("median_ttft", 3)), alike(6, asks(asked.Target, "b"))
	if c := Compare(slices.Concat(a, b), slices.Concat(b, a), gating.Default()); c.Verdict != Pass || len(c.Points) != 2 {
		t.Errorf("%s %q of %d points", c.Verdict, c.Reasons, len(c.Points))
	}
	if c := Compare(a, b, gating.Default()); c.Verdict != Pass || len(c.Points) != 1 {
		t.Errorf("one target against another: %s %q", c.Verdict, c.Reasons)
	}
	if c := Compare(slices.Concat(a, b), b, gating.Default()); c.Verdict != NoVerdict {
		t.Errorf("two targets against one: %s", c.Verdict)
	}
}

func TestNotesTellWhatStandsBeside(t *testing.T) {
	at := func(minute int) func(int, *brief.Run) {
		return func(i int, r *brief.Run) { r.Began = time.Unix(0, 0).Add(time.Duration(minute+i) * time.Minute) }
	}
	for _, test := range []struct {
		name     string
		old, new []*brief.Run
		want     string
	}{
		{"one after the other", alike(6, at(0)), alike(6, at(10)), "all runs of one side came before"},
		{"in turns", alike(6, at(0)), alike(6, at(1)), ""},
		{"longer answers", alike(6), alike(6, func(_ int, r *brief.Run) { r.Output = 1100 }), "the answers had 10.0 tokens in the old runs and 11.0 in the new ones (+10.0 %)"},
		{"the other way round", alike(6, at(10)), alike(6, at(0)), "all runs of one side came before"},
		{"when is unknown", alike(6), alike(6, at(0)), ""},
		{"shorter prompts", alike(6), alike(6, func(_ int, r *brief.Run) { r.Input = 900 }), "the prompts had 10.0 tokens in the old runs and 9.0 in the new ones (−10.0 %)"},
		{"other seeds", alike(6, seeded(0)), alike(6, seeded(1)), "the two sides had different prompts: the seeds are 0, 1, 2, 3, 4, 5 in the old runs and 1, 2, 3, 4, 5, 6 in the new ones"},
	} {
		c := Compare(test.old, test.new, gating.Default())
		got := strings.Join(c.Notes, "\n")
		if c.Verdict != Pass || !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%s: %s %q", test.name, c.Verdict, got)
		}
	}
}

func TestFewValuesBeyondAPercentileAreRemarkedOn(t *testing.T) {
	few := func(_ int, r *brief.Run) { r.Numbers["p99_ttft"], r.Values["ttft"] = 50, 99 }
	c := Compare(alike(6, few), alike(6, few), gating.Default())
	if r := c.Points[0].find("p99_ttft"); r == nil || !slices.Equal(r.Remarks, []string{"a run has fewer than 1 sample above it, too few to rely on"}) {
		t.Errorf("%+v", r)
	}
}

// pooled are runs of a pooling endpoint.
func pooled(n int, change ...func(int, *brief.Run)) []*brief.Run {
	return alike(n, append([]func(int, *brief.Run){func(i int, r *brief.Run) {
		around := 1 + 0.01*float64(i%3)
		r.Numbers, r.Output = map[string]float64{"input_sequence_throughput": 400 * around, "median_e2el": 30 * around}, -1
	}}, change...)...)
}

// Numbers for a prompt have no tokens and no first one: their rate and their latency are gated instead.
func TestPoolingIsGatedByItsOwnNumbers(t *testing.T) {
	if c := Compare(pooled(6), pooled(6), gating.Default()); c.Verdict != Pass || c.Needed != 4 {
		t.Errorf("equal: %s %q, %d runs", c.Verdict, c.Reasons, c.Needed)
	}
	for _, name := range []string{"input_sequence_throughput", "median_e2el"} {
		factor := 1.3
		if name == "input_sequence_throughput" {
			factor = 0.7
		}
		if c := Compare(pooled(6), pooled(6, times(name, factor)), gating.Default()); c.Verdict != Regressed {
			t.Errorf("%s: %s %q", name, c.Verdict, c.Reasons)
		}
	}
	if c := Compare(pooled(6), alike(6), gating.Default()); c.Verdict != NoVerdict {
		t.Errorf("against text: %s", c.Verdict)
	}
}

// What the user gates is never replaced: without its number there is no verdict.
func TestAGateThatWasAskedForStaysOnPooling(t *testing.T) {
	for _, name := range []string{"output_throughput", "median_ttft", "median_tpot"} {
		m, _ := numbers.Find(name)
		gate := gating.Gate{Limits: []gating.Margin{{Number: m, Relative: 0.05}}}
		if c, want := Compare(pooled(6), pooled(6), gate), "some runs do not have "+name; c.Verdict != NoVerdict || !slices.Contains(c.Reasons, want) {
			t.Errorf("%s: %s %q", name, c.Verdict, c.Reasons)
		}
	}
}
