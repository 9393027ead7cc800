package stats

import (
	"math"
	"testing"
)

// With 5 and 10 degrees of freedom, the ratio of two variances is above 16 in 0.00017 of all cases, and
// above 4 in 0.0297: the integral of the density of the beta distribution.
func TestEstimatesShareTheirError(t *testing.T) {
	got := SharedErrors([]Estimate{{1, 1, 5}, {2, 1, 5}, {3, 2, 5}})
	for i, e := range got {
		if want := (Estimate{float64(i + 1), math.Sqrt2, 15}); e != want {
			t.Errorf("%d: %+v, want %+v", i, e, want)
		}
	}
	got = SharedErrors([]Estimate{{1, 1, 5}, {2, 1, 5}, {3, 4, 5}, unknown(4)})
	for i, want := range []Estimate{{1, 1, 10}, {2, 1, 10}, {3, 4, 5}, unknown(4)} {
		if got[i] != want {
			t.Errorf("%d: %+v, want %+v", i, got[i], want)
		}
	}
	if got := SharedErrors([]Estimate{{1, 0, 5}, {2, 0, 5}, {2, 1, 5}}); got[0].Err != 0 || got[2].Err != 1 {
		t.Errorf("%+v", got)
	}
}
