package metrics

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The nearest counted value, as HdrHistogram gives it, is 5.8 % below the median of
// ten such values and 39 % below P1 of a hundred.
func TestAHistogramsPercentilesAreNumpysToThreeDigits(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	for _, n := range []int{1, 2, 3, 10, 11, 100, 1001, 100_000} {
		exact, counted := Distribution{}, Distribution{limit: 1}
		for range n {
			v := 0.05 * math.Exp(0.5*random.NormFloat64()) // TTFTs about 50 ms
			exact.Add(v)
			counted.Add(v)
		}
		if n == 1 {
			counted.Drop()
		}
		if exact.Approximate() || !counted.Approximate() {
			t.Fatalf("of %d values one is exact, one is not: %v, %v", n, exact.Approximate(), counted.Approximate())
		}
		if got, want := counted.Median(), exact.Median(); !nearby(got, want) {
			t.Errorf("median of %d: %v, want %v", n, got, want)
		}
		for _, p := range []float64{0, 1, 10, 25, 50, 90, 99, 99.9, 100} {
			if got, want := counted.Percentile(p), exact.Percentile(p); !nearby(got, want) {
				t.Errorf("P%v of %d: %v, want %v", p, n, got, want)
			}
		}
	}
}

// Shorter times than a microsecond are known to half of one.
func TestAHistogramTellsShortTimesToHalfAMicrosecond(t *testing.T) {
	counted := Distribution{limit: 1}
	for _, ns := range []float64{0, 0, 100, 300, 900, 1500} {
		counted.Add(ns / 1e9)
	}
	const ms = 1e6
	for p, want := range map[float64]float64{0: 0, 40: 100, 60: 300, 80: 900, 100: 1500} {
		if got := counted.Percentile(p) * ms; math.Abs(got-want) > 512 {
			t.Errorf("P%v is %v ns, want %v", p, got, want)
		}
	}
}
