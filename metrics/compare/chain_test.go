package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
)

// A day is the runs of one session: all numbers have the change of the day, and a chance of their own.
func day(chance *rand.Rand, n, runs int, between, within float64, change map[string]float64) []*brief.Run {
	moved := between * chance.NormFloat64()
	return alike(runs, func(i int, r *brief.Run) {
		r.Began, r.Start = time.Date(2026, 1, n, i, 0, 0, 0, time.UTC), fmt.Sprint("day ", n, ", ", i)
		worse := func(name string) float64 { return math.Exp(moved + change[name] + within*chance.NormFloat64()) }
		r.Numbers["output_throughput"] = 2000 / worse("output_throughput")
		r.Numbers["median_ttft"] = 40 * worse("median_ttft")
		r.Numbers["median_tpot"] = 10 * worse("median_tpot")
	})
}

// days is a baseline of some days, and the runs of the next.
func days(t testing.TB, chance *rand.Rand, n, runs int, between float64, change func(day int) map[string]float64) (old, new []*brief.Run) {
	var b Baseline
	for i := 1; i <= n; i++ {
		if err := b.Add(day(chance, i, runs, between, 0.01, change(i)), gating.Gate{}); err != nil {
			t.Fatal(err)
		}
	}
	return b.Runs(), day(chance, n+1, runs, between, 0.01, change(n+1))
}

func unchanged(int) map[string]float64 { return nil }

// boiling gets worse by that much each day.
func boiling(by float64) func(int) map[string]float64 {
	return func(day int) map[string]float64 { return map[string]float64{"median_ttft": by * float64(day)} }
}

// outcomes are how often each verdict comes out of so many chains.
func outcomes(t *testing.T, trials, sessions int, between float64, change func(int) map[string]float64) map[Verdict]int {
	chance, found := rand.New(rand.NewPCG(11, uint64(sessions))), map[Verdict]int{}
	for range trials {
		old, new := days(t, chance, sessions, 4, between, change)
		found[Compare(old, new, gating.Default()).Verdict]++
	}
	t.Logf("%d sessions, %g between: %v", sessions, between, found)
	return found
}

// With the noise of one session alone, days that differ by 3 % made 14 % false alarms, and
// 12 % passes of a server that was 10 % worse.
func TestDaysThatDifferAreNoRegression(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	last := func(sessions int) func(int) map[string]float64 {
		return func(day int) map[string]float64 {
			if day <= sessions {
				return nil
			}
			return map[string]float64{"output_throughput": math.Log(1.1), "median_ttft": math.Log(1.1), "median_tpot": math.Log(1.1)}
		}
	}
	for _, sessions := range []int{4, 10} {
		// 18 of 200 is the 99 % bound of what is 5 % in truth.
		if found := outcomes(t, 200, sessions, 0.03, unchanged); found[Regressed] > 18 {
			t.Errorf("%d sessions: %v of a server that did not change", sessions, found)
		}
		if found := outcomes(t, 200, sessions, 0.03, last(sessions)); found[Pass] > 18 {
			t.Errorf("%d sessions: %v of a server that is 10 %% worse", sessions, found)
		}
	}
	if found := outcomes(t, 50, 6, 0.005, last(6)); found[Regressed] < 48 {
		t.Errorf("%v of a server that is 10 %% worse, on days that are alike", found)
	}
}

// Each release is within the margin of the one before, and all together are not.
func TestSlowBoilDoesNotPass(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	for _, c := range []struct {
		by       float64
		sessions int
	}{{0.04, 8}, {0.01, 15}, {0.005, 24}} {
		if found := outcomes(t, 50, c.sessions, 0.01, boiling(c.by)); found[Regressed] < 45 || found[Pass] > 0 {
			t.Errorf("%v of %d sessions, each %.3g %% worse than the last", found, c.sessions, c.by*100)
		}
	}
	old, new := days(t, rand.New(rand.NewPCG(1, 2)), 12, 4, 0.005, boiling(0.02))
	c := Compare(old, new, gating.Default())
	if got := strings.Join(c.Reasons, "\n"); !strings.HasPrefix(got, "median_ttft got worse slowly: +27.2 % from the baseline session of 2026-01-01 00:00:00 to the new runs (margin 5 %; p<0.001)") {
		t.Errorf("%s: %q", c.Verdict, got)
	}
	if got := strings.Join(c.Notes, "\n"); !strings.Contains(got, "a slow change may be the machine's: measure the server of the first session again, in turns with the new one") {
		t.Errorf("%q", got)
	}
}

// A slow change for the better is no regression, and one within the margin does not count.
func TestOnlyASlowChangeForTheWorseCounts(t *testing.T) {
	for name, change := range map[string]func(int) map[string]float64{"better": boiling(-0.02), "within the margin": boiling(0.003)} {
		old, new := days(t, rand.New(rand.NewPCG(3, 4)), 12, 4, 0.001, change)
		if c := Compare(old, new, gating.Default()); c.Verdict == Regressed {
			t.Errorf("%s: %s %q", name, c.Verdict, c.Reasons)
		}
	}
}

// A step that is no regression today is still named, with its day.
func TestChangeWithinABaselineIsNamed(t *testing.T) {
	step := func(day int) map[string]float64 {
		if day < 7 {
			return nil
		}
		return map[string]float64{"median_ttft": 0.04}
	}
	old, new := days(t, rand.New(rand.NewPCG(5, 6)), 14, 4, 0.003, step)
	c := Compare(old, new, gating.Default())
	if got := strings.Join(c.Notes, "\n"); !strings.Contains(got, "median_ttft changed by +4.2 %") || !strings.Contains(got, "with the baseline session of 2026-01-07 00:00:00 (p=") ||
		!strings.Contains(got, "begin a new baseline") || strings.Contains(got, "median_tpot changed") {
		t.Errorf("%q", got)
	}
}

// Fewer sessions do not show how much days differ. Whoever takes starts or runs for evidence decides
// on these days only, and is told so.
func TestAFewSessionsDecideNothing(t *testing.T) {
	chance := rand.New(rand.NewPCG(7, 9))
	for sessions, want := range map[int]string{
		1: "the baseline has 1 session: how much days differ is unknown, and shows from 4 on; --unit start or --unit run decides on this session only",
		3: "the baseline has 3 sessions: how much days differ is unknown, and shows from 4 on; --unit start or --unit run decides on these sessions only",
	} {
		old, new := days(t, chance, sessions, 6, 0, unchanged)
		if c := Compare(old, new, gating.Default()); c.Verdict != NoVerdict || !slices.Contains(c.Reasons, want) {
			t.Errorf("%d sessions: %s %q", sessions, c.Verdict, c.Reasons)
		}
		gate := gating.Default()
		gate.Unit = gating.PerRun
		if c := Compare(old, new, gate); c.Verdict != Pass || c.Points[0].Design != OneAfterOther {
			t.Errorf("%d sessions by runs: %s %q", sessions, c.Verdict, c.Reasons)
		}
		for i, r := range append(old, new...) {
			r.Start = string(rune('a' + i))
		}
		gate.Unit = gating.PerStart
		if c := Compare(old, new, gate); c.Verdict != Pass || c.Scope() != "on these baseline sessions only" {
			t.Errorf("%d sessions by starts: %s %q %q", sessions, c.Verdict, c.Reasons, c.Scope())
		}
	}
}

func TestChainIsTheDesign(t *testing.T) {
	old, new := days(t, rand.New(rand.NewPCG(9, 10)), 5, 2, 0.001, unchanged)
	c := Compare(old, new, gating.Default())
	if c.Verdict != Pass || c.Unit != gating.PerSession || c.Points[0].Arranged() != "chain, 5 baseline sessions" || c.Scope() != "" {
		t.Errorf("%s %q, unit %s, %s", c.Verdict, c.Reasons, c.Unit, c.Points[0].Arranged())
	}
	one := alike(1, on(6))
	if c := Compare(old, one, gating.Default()); c.Verdict == NoVerdict && strings.Contains(c.Reasons[0], "too few") {
		t.Errorf("a session of one run: %q", c.Reasons)
	}
	early, new := days(t, rand.New(rand.NewPCG(9, 10)), 4, 2, 0.001, unchanged)
	for _, r := range early {
		r.Began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	const note = "the 4 baseline sessions are of one day, so they do not show how much days differ"
	if c := Compare(early, new, gating.Default()); !strings.Contains(strings.Join(c.Notes, "\n"), note) {
		t.Errorf("%q", c.Notes)
	}
}

// Sessions on one start of a server do not show how much starts differ. Starts that differ by 3 % made
// 14 % false alarms. A server that nobody restarts is another matter: the new runs are on that start.
func TestSessionsOnOneStartAreOne(t *testing.T) {
	for _, test := range []struct {
		starts, want string
		sessions     int
	}{
		{"aaaab", "the baseline has 4 sessions, of which 1 count, since sessions on one start of a server are one: how much starts differ is unknown, and shows from 4 on; --unit start or --unit run decides on these sessions only", 1},
		{"aabbc", "the baseline has 4 sessions, of which 2 count, ", 2},
		{"aabcde", "", 4},
		{"aaaaa", "", 4},
		{"abcde", "", 4},
		{"    a", "", 4},
	} {
		chance := rand.New(rand.NewPCG(1, 9))
		old, new := days(t, chance, len(test.starts)-1, 4, 0.01, unchanged)
		for _, r := range slices.Concat(old, new) {
			r.Start = strings.TrimSpace(test.starts[r.Began.Day()-1 : r.Began.Day()])
		}
		c := Compare(old, new, gating.Default())
		p := &c.Points[0]
		if n := len(p.sessions()); n != test.sessions || (p.Design == Chain) != (test.want == "") {
			t.Errorf("%q: %d sessions, %s", test.starts, n, p.Design)
		}
		if got := strings.Join(c.Reasons, "\n"); !strings.HasPrefix(got, test.want) || test.want != "" && c.Verdict != NoVerdict {
			t.Errorf("%q: %s %q", test.starts, c.Verdict, got)
		}
	}
}
