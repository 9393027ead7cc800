package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/servebench/servebench/metrics"
)

// noisy makes runs whose numbers spread by that share around their true values,
// of which factor multiplies one, by the name of its metric.
func noisy(chance *rand.Rand, runs int, spread float64, worse string) []*metrics.Summary {
	around := func(v float64, name string) float64 {
		if name == worse {
			if m, _ := Find(name); m.Higher {
				v /= 1.1
			} else {
				v *= 1.1
			}
		}
		return v * math.Exp(spread*chance.NormFloat64())
	}
	var sums []*metrics.Summary
	for range runs {
		s := &metrics.Summary{Header: new(metrics.Header), Completed: 100, TotalOutput: 1000}
		s.OutputThroughput = around(2000, "output_throughput")
		s.TTFT.Add(around(0.040, "median_ttft"))
		s.TPOT.Add(around(0.010, "median_tpot"))
		s.E2EL.Add(around(1.200, "median_e2el"))
		sums = append(sums, s)
	}
	return sums
}

func fourMetrics() Gate {
	g := DefaultGate()
	m, _ := Find("median_e2el")
	g.Limits = append(g.Limits, Limit{Metric: m, Relative: UsualMargin})
	return g
}

// verdicts are how often each verdict comes out of a thousand pairs.
func verdicts(seed uint64, runs int, worse string) map[Verdict]int {
	chance := rand.New(rand.NewPCG(seed, 1))
	found := map[Verdict]int{}
	for range 1000 {
		found[Compare(noisy(chance, runs, 0.03, ""), noisy(chance, runs, 0.03, worse), fourMetrics()).Verdict]++
	}
	return found
}

func TestFalseAlarmsAreRare(t *testing.T) {
	if v := verdicts(1, 6, ""); v[Regressed] > 50 || v[NoVerdict] > 0 {
		t.Errorf("%v of a thousand pairs that are alike", v)
	} else {
		t.Logf("%v", v)
	}
}

func TestATenthWorseIsFound(t *testing.T) {
	for _, l := range fourMetrics().Limits {
		if v := verdicts(2, 6, l.Metric.Name); v[Regressed] < 950 || v[NoVerdict] > 0 {
			t.Errorf("%s: %v of a thousand pairs that differ by a tenth", l.Metric.Name, v)
		} else {
			t.Logf("%s: %v", l.Metric.Name, v)
		}
	}
}

func TestThreeAgainstThreeDecideNothing(t *testing.T) {
	if v := verdicts(3, 3, "median_ttft"); v[NoVerdict] != 1000 {
		t.Errorf("%v", v)
	}
}
