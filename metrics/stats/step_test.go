package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The place is the one with the least squares around the means before and behind it, of all places in
// both sides.
func TestStepIsTheBestOfAllPlaces(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		sides := [][]float64{make([]float64, 2+chance.IntN(6)), make([]float64, 2+chance.IntN(6))}
		for _, side := range sides {
			for i := range side {
				side[i] = chance.NormFloat64()
			}
		}
		got, least := ClearestStep(sides...), math.Inf(1)
		for s, side := range sides {
			for k := 1; k < len(side); k++ {
				squares := spread(sides[1-s]) + spread(side[:k]) + spread(side[k:])
				if squares < least {
					least = squares
					if got.In == s && got.At == k && !near(got.Value, mean(side[k:])-mean(side[:k])) {
						t.Errorf("%v: %+v", sides, got)
					}
				}
			}
		}
		side := sides[got.In]
		if best := spread(sides[1-got.In]) + spread(side[:got.At]) + spread(side[got.At:]); best > least+1e-9 {
			t.Errorf("%v: %+v leaves squares of %v, and another place %v", sides, got, best, least)
		}
	}
}

func mean(values []float64) (mean float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	return mean
}

func spread(values []float64) (squares float64) {
	for _, v := range values {
		squares += (v - mean(values)) * (v - mean(values))
	}
	return squares
}

// The residuals have 8 values less 2 means and the step, and there are 6 places.
func TestStepHasTheChanceOfAllItsPlaces(t *testing.T) {
	step := ClearestStep([]float64{1, 1.1, 2, 2.1}, []float64{3, 3.2, 3.1, 3.05})
	if step.In != 0 || step.At != 2 || !near(step.Value, 1) || step.DF != 5 {
		t.Fatalf("%+v", step)
	}
	if p := 6 * 2 * step.Above(0); !near(step.P, p) || p > 0.002 {
		t.Errorf("%v, want %v", step.P, p)
	}
}

// Equal sides of normal values have a step at the level p in a share of p at most.
func TestStepsByChanceAreAsRareAsTheySay(t *testing.T) {
	chance, found := rand.New(rand.NewPCG(3, 4)), 0
	for range 4000 {
		sides := [][]float64{make([]float64, 6), make([]float64, 6)}
		for _, side := range sides {
			for i := range side {
				side[i] = chance.NormFloat64()
			}
		}
		if ClearestStep(sides...).P <= 0.05 {
			found++
		}
	}
	if share := float64(found) / 4000; share > 0.055 || share < 0.02 {
		t.Errorf("a step in %.3f of what has none", share)
	}
}

func TestFewValuesHaveNoStep(t *testing.T) {
	for _, sides := range [][][]float64{nil, {{1}}, {{1}, {2}}, {nil, {1, 2}}, {{1, 1, 1}, {2, 2, 2}}} {
		if step := ClearestStep(sides...); step.P != 1 {
			t.Errorf("%v: %+v", sides, step)
		}
	}
	if step := ClearestStep([]float64{1, 1, 2}, []float64{5, 5, 5}); step.P != 0 || step.At != 2 || step.Value != 1 {
		t.Errorf("values that vary by a step alone: %+v", step)
	}
}
