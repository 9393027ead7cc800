package stats

import (
	"math"

	"github.com/aclements/go-moremath/mathx"
)

// noisier is the chance of an estimate to count as noisier than the others although all are alike.
const noisier = 0.01

// SharedErrors are estimates from equally many values each, with the error that they have in common, so that
// each is as sure as all values together allow. An estimate that is visibly noisier than the others
// keeps its error, as does one from too few values. The level of a test with them is right if all values
// are equally noisy: with twice the noise in one of four estimates of 4 to 6 values, its test at 5 % errs
// in 10 to 12 % of cases.
func SharedErrors(estimates []Estimate) []Estimate {
	shared := append([]Estimate(nil), estimates...)
	squares, df := 0.0, 0.0
	alike := make([]bool, len(estimates))
	for i, e := range estimates {
		if alike[i] = !math.IsInf(e.Err, 1) && !noisy(estimates, i); alike[i] {
			squares, df = squares+e.DF*e.Err*e.Err, df+e.DF
		}
	}
	for i := range shared {
		if alike[i] {
			shared[i].Err, shared[i].DF = math.Sqrt(squares/df), df
		}
	}
	return shared
}

// noisy reports that the error of estimate i is larger than the error of the others by more than
// chance, by Fisher's test of the ratio of two variances.
func noisy(estimates []Estimate, i int) bool {
	squares, df := 0.0, 0.0
	for k, e := range estimates {
		if k != i && !math.IsInf(e.Err, 1) {
			squares, df = squares+e.DF*e.Err*e.Err, df+e.DF
		}
	}
	own := estimates[i].DF * estimates[i].Err * estimates[i].Err
	if df == 0 || own == 0 {
		return false
	}
	// The share of the own squares follows a beta distribution.
	return mathx.BetaInc(squares/(own+squares), df/2, estimates[i].DF/2) < noisier
}
