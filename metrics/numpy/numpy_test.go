package numpy

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"
)

func TestStatisticsEqualNumpyBitForBit(t *testing.T) {
	data, err := os.ReadFile("../../testdata/golden/stats_primitives.json")
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
		check(n, "std", Std(c.Values), c.Std)
		check(n, "median", Median(sorted), c.Median)
		for _, p := range c.Percentiles {
			check(n, "percentile "+strconv.FormatFloat(p[0], 'f', -1, 64), Percentile(sorted, p[0]), p[1])
		}
	}
}

func TestStatisticsOfNothingAreNaN(t *testing.T) {
	for name, v := range map[string]float64{
		"mean": Mean(nil), "std": Std(nil), "median": Median(nil), "percentile": Percentile(nil, 50),
	} {
		if !math.IsNaN(v) {
			t.Errorf("%s is %v", name, v)
		}
	}
}
