package sequential

import (
	"math"
	"math/rand/v2"
	"testing"
)

// normal is the quantile of the normal distribution that is exceeded with that probability.
func normal(p float64) float64 { return math.Sqrt2 * math.Erfinv(1-2*p) }

// The boundaries of Lan and DeMets for five looks and a one-sided error of 2.5 %, of a test that knows
// the variance, as programs for group sequential tests print them (ldbounds, gsDesign; rounded in C. Jennison
// and B. Turnbull, "Group Sequential Methods with Applications to Clinical Trials", chapter 7). With 30 values
// from one look to the next, the variance is as good as known.
func TestBoundariesArePublished(t *testing.T) {
	const alpha = 0.025
	for name, c := range map[string]struct {
		spend func(share float64) float64
		z     []float64
	}{
		"O'Brien and Fleming": {func(share float64) float64 { return math.Erfc(normal(alpha/2) / math.Sqrt(share) / math.Sqrt2) }, []float64{4.877, 3.357, 2.680, 2.290, 2.031}},
		"Pocock":              {func(share float64) float64 { return alpha * math.Log(1+(math.E-1)*share) }, []float64{2.438, 2.427, 2.410, 2.397, 2.386}},
	} {
		var looks []int
		var spent []float64
		for i := range c.z {
			share := float64(i+1) / float64(len(c.z))
			looks, spent = append(looks, 30*(i+1)), append(spent, c.spend(share))
		}
		b := spending(looks, spent)
		for i, want := range c.z {
			if got := normal(b.level(looks[i])); math.Abs(got-want) > 0.01 {
				t.Errorf("%s: look %d at %.4f, want %.3f", name, i+1, got, want)
			}
		}
	}
}

// rejects simulates tests of one number without a true difference: at how many pairs they
// reject.
func rejects(b *boundary, trials int) map[int]int {
	random := rand.New(rand.NewPCG(3, 4))
	at := map[int]int{}
	for range trials {
		values := tally{df: -1}
		for n := 1; n <= b.looks[len(b.looks)-1]; n++ {
			values.add(random.NormFloat64())
			if values.mean/values.err() >= b.limit(n) {
				at[n]++
				break
			}
		}
	}
	return at
}

// With few pairs and an unknown variance, too, the tests reject as often as they may: up to each look.
func TestErrorIsAsSpent(t *testing.T) {
	const trials = 100_000
	for _, alpha := range []float64{0.05, 0.05 / 3, 0.05 / 12} {
		at, sum := rejects(newBoundary(alpha, 3, 20), trials), 0
		for n := 1; n <= 20; n++ {
			sum += at[n]
			want := spend(alpha, float64(n)/20)
			if n < 3 {
				want = 0
			}
			if got := float64(sum) / trials; math.Abs(got-want) > 4*math.Sqrt(want/trials) {
				t.Errorf("alpha %.4f: %.5f up to %d pairs, want %.5f", alpha, got, n, want)
			}
		}
	}
}

// The levels for a known variance are too high for few pairs.
func TestKnownVarianceErrs(t *testing.T) {
	var looks []int
	var spent []float64
	for n := 3; n <= 20; n++ {
		looks, spent = append(looks, 8*n), append(spent, spend(0.05, float64(n)/20))
	}
	known, of := spending(looks, spent), &boundary{}
	for n := 3; n <= 20; n++ {
		level := known.level(8 * n)
		of.looks, of.levels, of.limits = append(of.looks, n), append(of.levels, level), append(of.limits, limit(float64(n-1), level))
	}
	sum := 0
	for _, n := range rejects(of, 50_000) {
		sum += n
	}
	if share := float64(sum) / 50_000; share < 0.054 {
		t.Errorf("they reject in %.4f only: the exact recursion is not needed", share)
	}
}

func TestThereIsNoLookBetweenLooks(t *testing.T) {
	b := newBoundary(0.05, 3, 8)
	for _, n := range []int{0, 2, 9} {
		if b.level(n) != 0 || !math.IsInf(b.limit(n), 1) {
			t.Errorf("%d pairs: level %v", n, b.level(n))
		}
	}
	if one := newBoundary(0.05, 6, 6); math.Abs(one.level(6)-0.05) > 1e-6 || math.Abs(one.limit(6)-2.0150) > 1e-3 {
		t.Errorf("a single look is the usual t test: %v %v", one.level(6), one.limit(6))
	}
}
