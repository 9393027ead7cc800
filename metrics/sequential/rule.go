// Package sequential decides after each pair of runs whether more pairs are needed.
//
// Whoever looks after each pair, and stops at the first p value below 5 %, is wrong far more often
// than in 5 % of cases. A boundary spreads the error over all looks. A Rule has two of them: one to find
// a change for the worse, and one to exclude it. A Rule is chosen before the first pair. A Forecast says
// what more pairs will likely bring.
//
// Everything is on the scale of stats.Estimate: differences of logarithms, where worse is up.
package sequential

import (
	"math"

	"github.com/servebench/servebench/metrics/stats"
)

// A Rule says when pairs are enough. Nobody changes it after it is made.
type Rule struct {
	First, Most int // pairs at the first and the last look

	worse, fine *boundary
}

// NewRule makes a Rule with looks from the first number of pairs, at least 2, to the most.
//
// The chance to find a number worse that is not is at most worse. If several numbers are
// gated, each has its share of alpha (C. Bonferroni, 1936). The chance to call all numbers fine, if
// one is not, is at most fine. It is not shared, since all have to be fine (R. Berger, "Multiparameter Hypothesis
// Testing and Acceptance Sampling", Technometrics 24 (1982)).
func NewRule(worse, fine float64, first, most int) *Rule {
	return &Rule{first, most, newBoundary(worse, first, most), newBoundary(fine, first, most)}
}

// Worse is the level of the test that finds one number worse after so many pairs; 0 if there is no
// look.
func (r *Rule) Worse(pairs int) float64 { return r.worse.level(pairs) }

// Fine is the level of the test that excludes a change for the worse after so many pairs; 0 if
// there is no look.
func (r *Rule) Fine(pairs int) float64 { return r.fine.level(pairs) }

// A Number is a gated number after some pairs.
type Number struct {
	stats.Estimate

	Margin   float64 // a change up to it is not called worse
	Excluded float64 // a change that must be excluded to call the number fine; above Margin
}

// An outcome is the result of a look.
type outcome byte

const (
	open  outcome = iota
	worse         // a number is worse, by more than its margin
	fine          // all numbers are fine
)

// limits are the least values of t with which a number is worse, and is fine.
type limits struct{ worse, fine float64 }

// limits are the limits of a look. An Estimate may have other degrees of freedom than pairs − 1, if
// several loads share a variance. The level is then the same (S. Pocock, "Group Sequential Methods
// in the Design and Analysis of Clinical Trials", Biometrika 64 (1977)).
func (r *Rule) limits(pairs int, df float64) limits {
	if df == float64(pairs-1) {
		return limits{r.worse.limit(pairs), r.fine.limit(pairs)}
	}
	return limits{limit(df, r.Worse(pairs)), limit(df, r.Fine(pairs))}
}

func limit(df, level float64) float64 {
	if level == 0 {
		return math.Inf(1)
	}
	return stats.Estimate{Err: 1, DF: df}.Upper(level)
}

// decide compares each number with its limits.
func decide(numbers []Number, by []limits) outcome {
	all := len(numbers) > 0
	for i, n := range numbers {
		if n.Value > n.Margin && n.Value >= by[i].worse*n.Err {
			return worse
		}
		all = all && n.Excluded-n.Value >= by[i].fine*n.Err
	}
	if all {
		return fine
	}
	return open
}
