package main

import (
	"math"
	"slices"

	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/numpy"
	"github.com/servebench/servebench/metrics/stats"
)

// alpha is the chance of a false alarm that every rule allows.
const alpha = 0.05

// sides are the values of a gated number on the log scale, in which worse is up.
func sides(number int, old, new []*brief.Run) (a, b []float64) {
	values := func(runs []*brief.Run) (logs []float64) {
		for _, r := range runs {
			logs = append(logs, worseUp(number, r.Numbers[names[number]]))
		}
		return logs
	}
	return values(old), values(new)
}

// A test is what the values of two sides say about the difference between them.
type test func(old, new []float64) stats.Evidence

// p is the p value of each gated number, adjusted for their count by Holm's procedure.
func (t test) p(old, new []*brief.Run) []float64 {
	var p []float64
	for i := range numbers {
		p = append(p, t(sides(i, old, new)).Above(0))
	}
	return stats.Holm(p, numbers)
}

// decide says REGRESSED if any number is worse.
func (t test) decide(old, new []*brief.Run, _ float64) compare.Verdict {
	if slices.Min(t.p(old, new)) <= alpha {
		return compare.Regressed
	}
	return compare.Pass
}

// pairedT is Student's test of the differences of old and new runs in the order of time.
func pairedT(old, new []float64) stats.Evidence {
	var differences []float64
	for i := range min(len(old), len(new)) {
		differences = append(differences, new[i]-old[i])
	}
	return stats.Paired(differences)
}

// ranks is Mann and Whitney's test.
func ranks(old, new []float64) stats.Evidence { return stats.Shift{Old: old, New: new} }

// before is the gate as it was before servebench knew server starts, pairs and days: Mann and Whitney's
// test of all runs, and the interval of Hodges and Lehmann's estimate. A baseline was of one day, and
// no margin was smaller than what its runs differed by.
func before(old, new []*brief.Run, margin float64) compare.Verdict {
	baseline := old[0].Session != ""
	if baseline {
		old = old[len(old)-perDay:]
	}
	if stats.LeastP(len(old), len(new)) > alpha/numbers {
		return compare.NoVerdict
	}
	p, verdict := test(ranks).p(old, new), compare.Pass
	for i := range numbers {
		a, b := sides(i, old, new)
		shift, limit := stats.Shift{Old: a, New: b}, margin
		if baseline {
			limit = max(margin, repeatability*numpy.SampleStd(a))
		}
		switch {
		case p[i] <= alpha && math.Expm1(shift.Value()) > limit:
			return compare.Regressed
		case max(math.Expm1(shift.Upper(alpha/2)), limit) > 2*margin:
			verdict = compare.NoVerdict
		}
	}
	return verdict
}

// repeatability is how many standard deviations two results differ by at most in 95 of 100 cases.
const repeatability = 2.8
