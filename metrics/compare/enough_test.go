package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
)

// onStarts are alike runs of which each start has so many.
func onStarts(name string, each int) func(int, *brief.Run) {
	return func(i int, r *brief.Run) { r.Start = name + strconv.Itoa(i/each) }
}

// after moves the runs by minutes.
func after(minutes int) func(int, *brief.Run) {
	return func(_ int, r *brief.Run) {
		r.Began, r.Ended = r.Began.Add(time.Duration(minutes)*time.Minute), r.Ended.Add(time.Duration(minutes)*time.Minute)
	}
}

// repeated are runs of a sweep's repeats, which take turns with the other side's.
func repeated(i int, r *brief.Run) {
	r.Repeat, r.Asked[asked.Seed] = i+1, strconv.Itoa(i)
}

// However many runs it has, one start a side is no evidence, and unknown starts may be one.
func TestOneStartASideDecidesNothing(t *testing.T) {
	unknown := func(_ int, r *brief.Run) { r.Start = "" }
	perRun := gating.Default()
	perRun.Unit = gating.PerRun
	for _, test := range []struct {
		name     string
		gate     gating.Gate
		old, new []*brief.Run
		want     Verdict
		reason   string
		scope    string
	}{
		{"one start a side", gating.Default(), alike(12, onStarts("old", 12)), alike(12, onStarts("new", 12), times("median_ttft", 2)), NoVerdict,
			"one server start a side: --unit run decides on these two processes only", ""},
		{"one old start", gating.Default(), alike(12, onStarts("old", 12)), alike(12), NoVerdict, "one server start on the old side: --unit run decides on these processes only", ""},
		{"one new start", gating.Default(), alike(12), alike(12, onStarts("new", 12)), NoVerdict, "one server start on the new side: --unit run decides on these processes only", ""},
		{"two starts a side", gating.Default(), alike(12, onStarts("old", 6)), alike(12, onStarts("new", 6)), NoVerdict,
			"too few server starts: 2 old and 2 new; 3 gated numbers take at least 4 server starts a side", ""},
		{"unknown", gating.Default(), alike(12, unknown), alike(12, unknown), NoVerdict, "the runs do not say on which start of a server they were: --unit run takes each run for itself", ""},
		{"one unknown", gating.Default(), alike(12), alike(12, func(i int, r *brief.Run) { r.Start = strings.Repeat("x", i) }), NoVerdict, "the runs do not say on which start", ""},
		{"four starts", gating.Default(), alike(12, onStarts("old", 3)), alike(12, onStarts("new", 3), times("median_ttft", 2)), Regressed, "median_ttft +100.0 %", ""},
		{"one start a side, by runs", perRun, alike(12, onStarts("old", 12)), alike(12, onStarts("new", 12), times("median_ttft", 2)), Regressed, "median_ttft +100.0 %", "on these two processes only"},
		{"unknown, by runs", perRun, alike(12, unknown), alike(12, unknown), Pass, "", "on these two processes only"},
		{"four starts, by runs", perRun, alike(12, onStarts("old", 3)), alike(12, onStarts("new", 3)), Pass, "", "on these processes only"},
		{"one start of pairs", gating.Default(), alike(12, onStarts("old", 12), repeated), alike(12, onStarts("new", 12), repeated), NoVerdict, "one server start a side", ""},
		{"pairs on two starts a side", gating.Default(), alike(12, onStarts("old", 6), repeated), alike(12, onStarts("new", 6), repeated), NoVerdict,
			"too few runs: 2 pairs of server starts; it takes at least 3", ""},
	} {
		c := Compare(test.old, test.new, test.gate)
		if c.Verdict != test.want || test.reason != "" && !strings.HasPrefix(strings.Join(c.Reasons, "\n"), test.reason) || c.Scope() != test.scope {
			t.Errorf("%s: %s %q %s, want %s %q %s", test.name, c.Verdict, c.Reasons, c.Scope(), test.want, test.reason, test.scope)
		}
	}
}

// A drift of a percent a run makes the later side worse by six. In pairs it cancels.
func TestDriftIsNoRegression(t *testing.T) {
	chance := rand.New(rand.NewPCG(7, 7))
	drifting := func(from int) func(int, *brief.Run) {
		return func(i int, r *brief.Run) {
			r.Numbers["median_ttft"] = 40 * math.Exp(0.01*float64(from+i)+0.001*chance.NormFloat64())
		}
	}
	const want = "median_ttft drifts by +"
	for name, new := range map[string][]*brief.Run{
		"after":  alike(6, after(6), drifting(6)),
		"slower": alike(6, after(6), drifting(30)),
	} {
		c := Compare(alike(6, drifting(0)), new, gating.Default())
		if c.Verdict != NoVerdict || c.Judged || !strings.HasPrefix(c.Reasons[0], want) || !strings.Contains(c.Reasons[0], "run the arms in turns") {
			t.Errorf("%s: %s %q", name, c.Verdict, c.Reasons)
		}
	}
	c := Compare(alike(6, drifting(0)), alike(6, after(-6), drifting(-6)), gating.Default())
	if c.Verdict != NoVerdict || !strings.HasPrefix(c.Reasons[0], want) {
		t.Errorf("the new runs first: %s %q", c.Verdict, c.Reasons)
	}
	steep := func(i int, r *brief.Run) { r.Numbers["median_ttft"] = 40 * math.Exp(0.1*float64(i)) }
	if c := Compare(alike(4, repeated, steep), alike(4, repeated, steep, times("median_ttft", 1.1)), gating.Default()); c.Verdict != Regressed {
		t.Errorf("in pairs: %s %q", c.Verdict, c.Reasons)
	}
	if c := Compare(alike(4, repeated, steep), alike(4, repeated, steep), gating.Default()); c.Verdict != Pass {
		t.Errorf("in pairs, alike: %s %q", c.Verdict, c.Reasons)
	}
}

// A side that is worse and does not drift is found, although it came later.
func TestOneSideAfterTheOtherIsJudged(t *testing.T) {
	scatter := func(i int, r *brief.Run) {
		r.Numbers["median_ttft"] *= []float64{1, 1.02, 0.99, 1.01, 0.98, 1.015}[i%6]
	}
	for n, want := range map[int]Verdict{9: NoVerdict, 10: Regressed} {
		c := Compare(alike(n, scatter), alike(n, after(n), scatter, times("median_ttft", 1.3)), gating.Default())
		if c.Verdict != want || c.Points[0].Design != OneAfterOther {
			t.Errorf("%d a side: %s %q", n, c.Verdict, c.Reasons)
		}
		if says := "or the machine changed between the sides: with one side after the other, fewer than 10 server starts a side do not tell"; want == NoVerdict && !strings.Contains(c.Reasons[0], says) {
			t.Errorf("%q, want %q", c.Reasons, says)
		}
	}
	if c := Compare(alike(6, scatter), alike(6, after(6), scatter, times("median_ttft", 0.7)), gating.Default()); c.Verdict != Pass || c.Points[0].find("median_ttft").Judgement.Finding != Better {
		t.Errorf("%s %q", c.Verdict, c.Reasons)
	}
	if c := Compare(alike(5), alike(5, after(6)), gating.Default()); c.Verdict != NoVerdict ||
		!slices.Equal(c.Reasons, []string{"too few server starts: 5 old and 5 new; one side after the other takes at least 6 server starts a side, and a sweep of both 3 pairs"}) {
		t.Errorf("%s %q", c.Verdict, c.Reasons)
	}
}

// What a pass excludes is the largest bound of its rows, and a wrong sign of a scale would turn it.
func TestAPassSaysWhatItExcludes(t *testing.T) {
	ratios := []float64{1.01, 1.03, 1.02, 1.02}
	change := func(name string) func(int, *brief.Run) {
		return func(i int, r *brief.Run) {
			if r.Numbers[name] *= ratios[i]; name == "output_throughput" {
				r.Numbers[name] /= ratios[i] * ratios[i]
			}
		}
	}
	for _, name := range []string{"median_ttft", "output_throughput"} {
		c := Compare(alike(4, repeated), alike(4, repeated, change(name)), gating.Default())
		// Python's statistics: the mean of the logarithms, and its error times the quantile in every table.
		up := 0.019778596921767994 + 2.353363*0.008005173013536605/2
		if name == "output_throughput" {
			up = -math.Expm1(-up)
		} else {
			up = math.Expm1(up)
		}
		if r := c.Points[0].find(name); c.Verdict != Pass || math.Abs(c.Excludes-up) > 1e-6 || c.Excludes != r.Effect.Worst {
			t.Errorf("%s: %s %q excludes %v, want %v", name, c.Verdict, c.Reasons, c.Excludes, up)
		}
	}
	if c := Compare(alike(6), alike(6), gating.Gate{}); !math.IsNaN(c.Excludes) {
		t.Errorf("nothing is gated: %v", c.Excludes)
	}
	if c := Compare(alike(6), alike(6, times("median_ttft", 2), asks("model", "n")), gating.Default()); !math.IsNaN(c.Excludes) {
		t.Errorf("nothing was judged: %v", c.Excludes)
	}
}

func TestEquivalenceHasTwoSides(t *testing.T) {
	for factor, want := range map[float64]Finding{1: Equivalent, 1.03: Equivalent, 0.97: Equivalent, 1.045: "", 0.955: "", 0.9: Better} {
		c := Compare(alike(6), alike(6, times("median_ttft", factor)), gating.Default())
		if got := c.Points[0].find("median_ttft").Judgement.Finding; got != want {
			t.Errorf("×%v: %q, want %q", factor, got, want)
		}
	}
}

// loads are pairs of a sweep under so many loads, in which nothing changed.
func loads(chance *rand.Rand, n int, spread float64) (old, new []*brief.Run) {
	for load := range n {
		side := func() []*brief.Run {
			runs := noisy(chance, 6, spread, "")
			for i, r := range runs {
				r.Asked["request-rate"] = strconv.Itoa(load)
				repeated(i, r)
			}
			return runs
		}
		old, new = append(old, side()...), append(new, side()...)
	}
	return old, new
}

// The more loads, the more chances to be too noisy by the error of a few pairs. The error of all loads
// is steadier.
func TestManyLoadsAreNotTooNoisy(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	for _, n := range []int{1, 8} {
		chance := rand.New(rand.NewPCG(11, uint64(n)))
		found := map[Verdict]int{}
		for range 200 {
			old, new := loads(chance, n, 0.04)
			found[Compare(old, new, gating.Default()).Verdict]++
		}
		t.Logf("%d loads: %v", n, found)
		if found[NoVerdict] > 40 || found[Regressed] > 14 {
			t.Errorf("%d loads: %v", n, found)
		}
	}
}

// A forecast knows the error that decides, of all loads. By the error of one load, none would be decided.
func TestForecastTakesTheErrorOfAllLoads(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	chance := rand.New(rand.NewPCG(12, 1))
	forecast, decided, open := 0.0, 0, 0
	for range 40 {
		old, new := loads(chance, 8, 0.03)
		until := func(pairs int) *Comparison {
			later := func(r *brief.Run) bool { r.MaxPairs = 20; return r.Repeat > pairs }
			return Compare(slices.DeleteFunc(slices.Clone(old), later), slices.DeleteFunc(slices.Clone(new), later), gating.Default())
		}
		if c := until(3); c.Verdict == NoVerdict {
			open++
			forecast += c.Forecast().By(2)
			if until(5).Verdict == Pass {
				decided++
			}
		}
	}
	t.Logf("%d of %d are decided, forecast %.1f", decided, open, forecast)
	if open < 10 || forecast < 0.2*float64(decided) {
		t.Errorf("%d of %d are decided, forecast %.1f", decided, open, forecast)
	}
}

// The machine slows down at one moment, between two runs of one side. All later runs look worse, and so
// does the new side.
func TestStepWithinASideIsNoVerdict(t *testing.T) {
	slower := func(from int) func(int, *brief.Run) {
		return func(i int, r *brief.Run) {
			if i >= from {
				r.Numbers["output_throughput"] /= 1.15
				r.Numbers["median_ttft"] *= 1.15
				r.Numbers["median_tpot"] *= 1.15
			}
		}
	}
	const never, always = 10, 0
	for _, test := range []struct {
		name     string
		old, new int // the first slow run
		first    int // when the new side begins
		want     Verdict
		where    string
	}{
		{"none", never, never, 10, Pass, ""},
		{"in the new side", never, 1, 10, NoVerdict, "median_ttft changes by +15.1 % between new server starts 1 and 2, although the side stays the same"},
		{"in the old side", 9, always, 10, NoVerdict, "output_throughput changes by −13.0 % between old server starts 9 and 10"},
		{"in the new side, which came first", always, 9, -10, NoVerdict, "median_tpot changes by +15.1 % between new server starts 9 and 10"},
		{"of the server", never, always, 10, Regressed, ""},
	} {
		c := Compare(alike(10, even, slower(test.old)), alike(10, even, after(test.first), slower(test.new)), gating.Default())
		if reasons := strings.Join(c.Reasons, "\n"); c.Verdict != test.want || !strings.Contains(reasons, test.where) || strings.Contains(reasons, "between") != (test.where != "") {
			t.Errorf("%s: %s %q, want %s", test.name, c.Verdict, c.Reasons, test.want)
		}
	}
	c := Compare(alike(10, even), alike(10, even, after(10), func(i int, r *brief.Run) {
		if i == 9 {
			r.Numbers["median_ttft"] *= 1.04
		}
	}), gating.Default())
	if c.Verdict != Pass {
		t.Errorf("a step within the margin: %s %q", c.Verdict, c.Reasons)
	}
}

// even makes a run vary by nothing but a thousandth.
func even(i int, r *brief.Run) {
	around := 1 + 0.001*float64(i%2)
	r.Numbers["output_throughput"], r.Numbers["median_ttft"], r.Numbers["median_tpot"] = 2000*around, 40*around, 10*around
}
