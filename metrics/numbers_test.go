package metrics

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

func TestStatisticsEqualNumpyBitForBit(t *testing.T) {
	data, err := os.ReadFile("../testdata/golden/stats_primitives.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Values            []float64
			Mean, Std, Median float64
			Percentiles       [][2]float64
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) == 0 {
		t.Fatal("no cases")
	}
	check := func(n int, what string, got, want float64) {
		t.Helper()
		if got != want {
			t.Errorf("n=%d: %s is %v, want %v", n, what, got, want)
		}
	}
	for _, c := range file.Cases {
		n := len(c.Values)
		sorted := slices.Sorted(slices.Values(c.Values))
		check(n, "mean", Mean(c.Values), c.Mean)
		check(n, "std", std(c.Values), c.Std)
		check(n, "median", Median(sorted), c.Median)
		for _, p := range c.Percentiles {
			check(n, "percentile "+FormatFloat(p[0]), Percentile(sorted, p[0]), p[1])
		}
	}
}

func TestStatisticsOfNothingAreNaN(t *testing.T) {
	for name, v := range map[string]float64{
		"mean": Mean(nil), "std": std(nil), "median": Median(nil), "percentile": Percentile(nil, 50),
	} {
		if !math.IsNaN(v) {
			t.Errorf("%s is %v", name, v)
		}
	}
}

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
			counted.drop()
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
