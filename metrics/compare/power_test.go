package compare

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/compare/numbers"
)

// noisy makes runs whose numbers spread by that share around their true values,
// of which the one called worse is a tenth worse.
func noisy(chance *rand.Rand, runs int, spread float64, worse string) []*brief.Run {
	var noisy []*brief.Run
	for range runs {
		numbers := map[string]float64{"output_throughput": 2000, "median_ttft": 40, "median_tpot": 10, "median_e2el": 1200}
		for _, l := range fourMetrics().Limits {
			name := l.Number.Name
			if name == worse && l.Number.Better == metrics.Higher {
				numbers[name] /= 1.1
			} else if name == worse {
				numbers[name] *= 1.1
			}
			numbers[name] *= math.Exp(spread * chance.NormFloat64())
		}
		noisy = append(noisy, &brief.Run{Asked: map[string]string{"model": "m"}, Numbers: numbers, Completed: 100, Input: 1000, Output: 1000})
	}
	return turned(noisy)
}

func fourMetrics() gating.Gate {
	g := gating.Default()
	m, _ := numbers.Find("median_e2el")
	g.Limits = append(g.Limits, gating.Margin{Number: m, Relative: g.Limits[0].Relative})
	return g
}

// pairs are how many pairs the tests of chance compare: a thousand with FULL=1.
func pairs() int {
	if os.Getenv("FULL") == "1" {
		return 1000
	}
	return 400
}

// verdicts are how often each verdict comes out of the pairs.
func verdicts(seed uint64, runs int, worse string) map[Verdict]int {
	return verdictsAmong(0.03, seed, runs, worse)
}

func verdictsAmong(noise float64, seed uint64, runs int, worse string) map[Verdict]int {
	chance := rand.New(rand.NewPCG(seed, 1))
	found := map[Verdict]int{}
	for range pairs() {
		found[Compare(noisy(chance, runs, noise, ""), noisy(chance, runs, noise, worse), fourMetrics()).Verdict]++
	}
	return found
}

func TestFalseAlarmsAreRare(t *testing.T) {
	if v := verdicts(1, 6, ""); v[Regressed] > pairs()/20 || v[NoVerdict] > pairs()/20 {
		t.Errorf("%v of the pairs that are alike", v)
	} else {
		t.Logf("%v", v)
	}
}

// Nothing is assumed of the noise: here one run in five is a third off.
func TestFalseAlarmsAreRareAmongOutliers(t *testing.T) {
	chance := rand.New(rand.NewPCG(4, 1))
	side := func() []*brief.Run {
		runs := noisy(chance, 6, 0.03, "")
		for _, r := range runs {
			if chance.IntN(5) == 0 {
				r.Numbers["output_throughput"] /= 1.33
				r.Numbers["median_ttft"] *= 1.33
			}
		}
		return runs
	}
	found := map[Verdict]int{}
	for range pairs() {
		found[Compare(side(), side(), fourMetrics()).Verdict]++
	}
	if found[Regressed] > pairs()/20 {
		t.Errorf("%v of the pairs that are alike", found)
	}
	t.Logf("%v", found)
}

func TestATenthWorseIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	for _, l := range fourMetrics().Limits {
		if v := verdicts(2, 6, l.Number.Name); v[Regressed] < pairs()*95/100 || v[Pass] > pairs()/50 {
			t.Errorf("%s: %v of the pairs that differ by a tenth", l.Number.Name, v)
		} else {
			t.Logf("%s: %v", l.Number.Name, v)
		}
	}
}

// More noise than six runs can see through makes no verdict, not a pass.
func TestATenthThatIsMissedIsSeldomAPass(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	for _, noise := range []float64{0.05, 0.07, 0.1} {
		if v := verdictsAmong(noise, 5, 6, "median_ttft"); v[Pass] > pairs()/20 {
			t.Errorf("noise %v: %v of the pairs that differ by a tenth", noise, v)
		} else {
			t.Logf("noise %v: %v", noise, v)
		}
	}
}

// The repeats of a sweep are compared in pairs, here under a drift of 1 % a repeat.
func TestPairsFindATenthUnderDrift(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	found := map[string]map[Verdict]int{}
	for _, worse := range []string{"", "median_ttft", "output_throughput"} {
		chance := rand.New(rand.NewPCG(6, 1))
		found[worse] = map[Verdict]int{}
		for range pairs() {
			old, new := noisy(chance, 6, 0.03, ""), noisy(chance, 6, 0.03, worse)
			for i, r := range old {
				for name := range r.Numbers {
					drift := math.Exp(0.01 * float64(i))
					r.Numbers[name] *= drift
					new[i].Numbers[name] *= drift
				}
				repeated(i, r)
				repeated(i, new[i])
			}
			found[worse][Compare(old, new, fourMetrics()).Verdict]++
		}
	}
	t.Log(found)
	if found[""][Regressed] > pairs()/20 || found["median_ttft"][Regressed] < pairs()*9/10 || found["output_throughput"][Regressed] < pairs()*9/10 {
		t.Errorf("%v of the pairs", found)
	}
}

func TestThreeAgainstThreeDecideNothing(t *testing.T) {
	if v := verdicts(3, 3, "median_ttft"); v[NoVerdict] != pairs() {
		t.Errorf("%v", v)
	}
}
