package compare

import (
	"math"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/compare/numbers"
)

// inPairs are runs in pairs whose TTFTs differ by these logarithms, of a sequential sweep of so many
// pairs; 0 for another sweep.
func inPairs(most int, differences ...float64) (old, new []*brief.Run) {
	old, new = arranged(strings.Repeat("AB", len(differences)))
	for i, d := range differences {
		for _, r := range []*brief.Run{old[i], new[i]} {
			r.MaxPairs, r.Completed, r.Output, r.Values = most, 100, 100, map[string]int{"ttft": 100}
		}
		old[i].Numbers["median_ttft"], new[i].Numbers["median_ttft"] = 40, 40*math.Exp(d)
	}
	return old, new
}

// ttftGate gates the median TTFT alone.
func ttftGate() (gate gating.Gate) {
	m, _ := numbers.Find("median_ttft")
	gate.Limits = []gating.Margin{{Number: m, Relative: 0.05}}
	return gate
}

// Whoever stops when the numbers suggest it, has to be surer.
func TestSequentialSweepTakesSurerPairs(t *testing.T) {
	for _, test := range []struct {
		name        string
		differences []float64
		fixed, most Verdict
	}{
		{"worse", []float64{0.05, 0.14, 0.06, 0.13}, Regressed, NoVerdict},
		{"clearly worse", []float64{0.11, 0.12, 0.11, 0.12}, Regressed, Regressed},
		{"alike", []float64{0.03, -0.04, 0.05, -0.05}, Pass, NoVerdict},
		{"clearly alike", []float64{0.01, -0.01, 0.005, 0.01}, Pass, Pass},
	} {
		for most, want := range map[int]Verdict{0: test.fixed, 20: test.most} {
			old, new := inPairs(most, test.differences...)
			c := Compare(old, new, ttftGate())
			if c.Verdict != want || !c.Judged {
				t.Errorf("%s, at most %d pairs: %s, want %s: %q", test.name, most, c.Verdict, want, c.Reasons)
			}
			if sequential := strings.Contains(c.Points[0].Arranged(), "of at most 20"); sequential != (most > 0) {
				t.Errorf("at most %d pairs: %s", most, c.Points[0].Arranged())
			}
		}
	}
}

// More pairs than the most are judged at the level of the last look.
func TestPairsBeyondTheMostHaveTheLastLevel(t *testing.T) {
	old, new := inPairs(3, 0.11, 0.12, 0.11, 0.12)
	last, _ := inPairs(3, 0.11, 0.12, 0.11)
	want := Compare(last, new[:3], ttftGate()).Points[0].levels
	if got := Compare(old, new, ttftGate()).Points[0].levels; got != want || got.worse == 0 {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestForecastOfRuns(t *testing.T) {
	of := func(most int, differences ...float64) *Comparison {
		old, new := inPairs(most, differences...)
		return Compare(old, new, ttftGate())
	}
	if f := of(0, 0.03, -0.04, 0.05, -0.05).Forecast(); f != nil {
		t.Errorf("no sequential sweep: %v", f)
	}
	near := of(20, 0.03, -0.04, 0.05, -0.05).Forecast()
	if len(near) != 16 || near.Needed() == 0 || near.Needed() > 8 {
		t.Errorf("nearly decided: %v", near)
	}
	far := of(6, 0.5, -0.6, 0.6, -0.4).Forecast()
	if len(far) != 2 || far.By(2) > 0.1 {
		t.Errorf("far from a decision: %v", far)
	}
}
