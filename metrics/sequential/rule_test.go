package sequential

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/servebench/servebench/metrics/stats"
)

// experiment makes pairs of numbers with these changes until the rule decides or has no looks left.
func experiment(r *Rule, random *rand.Rand, sd float64, changes ...float64) (outcome, int) {
	numbers, tallies := make([]Number, len(changes)), make([]tally, len(changes))
	for i := range tallies {
		tallies[i].df = -1
	}
	for pairs := 1; pairs <= r.Most; pairs++ {
		for i, change := range changes {
			tallies[i].add(change + sd*random.NormFloat64())
			numbers[i] = Number{stats.Estimate{Value: tallies[i].mean, Err: tallies[i].err(), DF: tallies[i].df}, 0.0488, 0.0953}
		}
		if pairs < 2 {
			continue
		}
		if result := look(r, pairs, numbers); result != open {
			return result, pairs
		}
	}
	return open, r.Most
}

// look decides about all gated numbers after so many pairs.
func look(r *Rule, pairs int, numbers []Number) outcome {
	var by []limits
	for _, n := range numbers {
		by = append(by, r.limits(pairs, n.DF))
	}
	return decide(numbers, by)
}

// outcomes are the shares of the outcomes of experiments, and the mean number of their pairs.
func outcomes(r *Rule, trials int, sd float64, changes ...float64) (shares [3]float64, mean float64) {
	random := rand.New(rand.NewPCG(5, 6))
	for range trials {
		result, pairs := experiment(r, random, sd, changes...)
		shares[result] += 1 / float64(trials)
		mean += float64(pairs) / float64(trials)
	}
	return shares, mean
}

// Both errors hold for all numbers together: of a false alarm, and of a change that is called fine.
func TestBothErrorsHold(t *testing.T) {
	r := NewRule(0.05/3, 0.05, 3, 20)
	// The margin adds to the test, so false alarms are largest where the noise is.
	for _, sd := range []float64{0.03, 0.07, 0.2, 0.5} {
		if shares, _ := outcomes(r, 8000, sd, 0, 0, 0); shares[worse] > 0.055 {
			t.Errorf("sd %v: %.4f are called worse", sd, shares[worse])
		}
		if shares, _ := outcomes(r, 8000, sd, 0, 0, 0.0953); shares[fine] > 0.055 {
			t.Errorf("sd %v: %.4f are called fine", sd, shares[fine])
		}
	}
	if shares, _ := outcomes(r, 8000, 0.5, 0, 0, 0); shares[worse] < 0.04 {
		t.Errorf("alpha is not used: %.4f", shares[worse])
	}
}

// Plan knows what experiments show.
func TestPlanIsTrue(t *testing.T) {
	r := NewRule(0.05/3, 0.05, 3, 12)
	var numbers []Number
	for range 3 {
		numbers = append(numbers, Number{stats.Estimate{Err: 0.057}, 0.0488, 0.0953})
	}
	p := r.Plan(numbers)
	for _, c := range []struct {
		change float64
		right  outcome
		e      Expected
	}{{0, fine, p.Alike}, {0.0953, worse, p.Worse}} {
		shares, mean := outcomes(r, 4000, 0.057, c.change, 0, 0)
		if math.Abs(c.e.Right-shares[c.right]) > 0.03 || math.Abs(c.e.Mean-mean) > 0.15 || c.e.Median < 5 || c.e.Likely <= c.e.Median || c.e.Likely > 10 {
			t.Errorf("change %v: %+v, but %v in %.2f pairs", c.change, c.e, shares, mean)
		}
	}
}

// For a normal test with a known variance, the pairs would be (z(α) + z(80 %))²·(noise/change)².
func TestFixedPairsAreTheTextbooks(t *testing.T) {
	one := func(sd float64) int {
		return Fixed(0.05, 0.05, []Number{{stats.Estimate{Err: sd}, 0.0488, 0.0953}}, 3, 1000)
	}
	for sd, want := range map[float64]float64{0.2: 27.2, 0.4: 108.9} {
		if got := float64(one(sd)); got < want || got > 1.08*want+3 {
			t.Errorf("sd %v: %v pairs, want about %v", sd, got, want)
		}
	}
	if one(0.001) != 3 || one(20) != 0 {
		t.Errorf("%d pairs without noise, %d with much", one(0.001), one(20))
	}
	quiet, loud := Number{stats.Estimate{Err: 0.02}, 0.0488, 0.0953}, Number{stats.Estimate{Err: 0.1}, 0.0488, 0.0953}
	if a, b := Fixed(0.025, 0.05, []Number{quiet, loud}, 3, 99), Fixed(0.025, 0.05, []Number{loud, quiet}, 3, 99); a != b || a < 9 {
		t.Errorf("%d pairs, or %d in another order", a, b)
	}
}

func TestForecastFollowsThePairs(t *testing.T) {
	r := NewRule(0.05, 0.05, 3, 12)
	after := func(pairs int, value, sd float64) Forecast {
		return r.Forecast(pairs, []Number{{stats.Estimate{Value: value, Err: sd / math.Sqrt(float64(pairs)), DF: float64(pairs - 1)}, 0.0488, 0.0953}})
	}
	clear, middling, hopeless := after(6, 0.12, 0.08), after(10, 0.048, 0.2), after(11, 0.06, 0.4)
	if n := clear.Needed(); n == 0 || clear.By(n) < Likely || clear.By(n-1) >= Likely || clear.By(99) < clear.By(n) {
		t.Errorf("a clear change: %v needs %d", clear, n)
	}
	if middling.Needed() != 0 || len(middling) != 2 || middling.By(2) > 0.5 {
		t.Errorf("in the middle between fine and worse: %v", middling)
	}
	if len(hopeless) != 1 || hopeless.By(1) > 0.1 {
		t.Errorf("one pair left: %v", hopeless)
	}
	if again := after(6, 0.12, 0.08); !slices.Equal(again, clear) {
		t.Errorf("%v, then %v", clear, again)
	}
	if none := after(12, 0.12, 0.08); none != nil || none.By(3) != 0 || none.Needed() != 0 {
		t.Errorf("after the most pairs: %v", none)
	}
}

// A true change that equals the one seen in 3 noisy pairs would hardly be decided. It may well be another.
func TestForecastDoubtsTheChangeThatItSaw(t *testing.T) {
	r := NewRule(0.05, 0.05, 3, 12)
	if f := r.Forecast(3, []Number{{stats.Estimate{Value: 0.05, Err: 0.2, DF: 2}, 0.0488, 0.0953}}); f.By(9) < 0.2 || f.By(9) > 0.4 {
		t.Errorf("%v", f)
	}
}

// Each further pair adds a degree of freedom.
func TestLaterLooksHaveTheirLimits(t *testing.T) {
	r := NewRule(0.05, 0.05, 3, 12)
	looks := r.looks(4, []Number{{Estimate: stats.Estimate{Err: 1, DF: 3}}})
	if want := (limits{r.worse.limit(12), r.fine.limit(12)}); looks[12][0] != want || looks[4] != nil {
		t.Errorf("%v, want %v", looks, want)
	}
}

// However sure a change is, it is not worse within the margin.
func TestChangeWithinTheMarginIsNotWorse(t *testing.T) {
	r := NewRule(0.05, 0.05, 3, 8)
	for value, want := range map[float64]outcome{0.04: fine, 0.06: worse} {
		if got := look(r, 5, []Number{{stats.Estimate{Value: value, Err: 1e-4, DF: 4}, 0.0488, 0.0953}}); got != want {
			t.Errorf("%v: %v, want %v", value, got, want)
		}
	}
}

func TestNothingGatedIsNeverFine(t *testing.T) {
	r := NewRule(0.05, 0.05, 3, 8)
	if got := look(r, 5, nil); got != open {
		t.Error(got)
	}
}

func ExampleRule() {
	rule := NewRule(0.05, 0.05, 3, 20)
	differences := []float64{0.09, 0.11, 0.08, 0.12}
	for pairs := 3; pairs <= len(differences); pairs++ {
		level, margin := rule.Worse(pairs), 0.05
		estimate := stats.Paired(differences[:pairs])
		fmt.Printf("%d pairs: level %.4f, worse %v\n", pairs, level, estimate.Value > margin && estimate.Above(0) <= level)
	}
	// Output:
	// 3 pairs: level 0.0075, worse true
	// 4 pairs: level 0.0043, worse true
}
