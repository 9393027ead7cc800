package stats

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// This file has the tests of a series: values of one thing in the order of time, such as the sessions
// of a baseline. Each is one piece of evidence.

// Next is the difference of a session from the mean of the past ones. Each has some values, whose mean
// stands for the session. The error is the error of a prediction: even if nothing changed, the next
// session differs as much as each past one did (W. Meeker, G. Hahn and L. Escobar, "Statistical
// Intervals" (2017), on the prediction of a single observation of a normal distribution). It grows if
// the values of the next session vary more than theirs, or are fewer; its degrees of freedom are then
// at most the ones of a sum of variances (B. Welch, "The Generalization of 'Student's' Problem when Several Different
// Population Variances are Involved", Biometrika 34 (1947)).
func Next(past [][]float64, next []float64) Estimate {
	n := float64(len(past))
	means := make([]float64, len(past))
	for i, values := range past {
		means[i] = stats.Mean(values)
	}
	difference := stats.Mean(next) - stats.Mean(means)
	if len(past) < 2 || len(next) == 0 {
		return unknown(difference)
	}
	expected := variance{stats.Variance(means) * (1 + 1/n), n - 1}
	one, usual := withinSessions(past)
	if len(next) > 1 {
		one = variance{stats.Variance(next), float64(len(next) - 1)}
	}
	own := variance{one.value / float64(len(next)), one.df}
	if own.value > usual {
		expected = expected.plus(own)
		expected.value -= usual // which the means have, too
	}
	return Estimate{difference, math.Sqrt(expected.value), min(expected.df, n-1)}
}

// withinSessions is the variance of the values of a session, and the part of it that is left in the mean of a session,
// both as means over the sessions. They are 0 for sessions of single values, which do not tell.
func withinSessions(sessions [][]float64) (values variance, means float64) {
	told := 0.0
	for _, s := range sessions {
		if len(s) > 1 {
			of := ofMean(s)
			values.value += of.value * float64(len(s))
			values.df += of.df
			means += of.value
			told++
		}
	}
	values.value /= max(told, 1)
	return values, means / max(told, 1)
}

// trendBatches is how many batches Trend makes.
const trendBatches = 5

// Trend is the change of a series from its first value to its last, if it is a straight line: by the
// least squares of the values, and of the means of five batches of neighbours. The second does not take values
// that wander for ones that go somewhere; see Batches.
func Trend(values []float64) Agreement[Estimate] {
	n := len(values)
	if n < trendBatches {
		return Agreement[Estimate]{unknown(0)}
	}
	var all, middles, means []float64
	for i := range values {
		all = append(all, float64(i))
	}
	for i := range trendBatches {
		from, to := i*n/trendBatches, (i+1)*n/trendBatches
		middles, means = append(middles, stats.Mean(all[from:to])), append(means, stats.Mean(values[from:to]))
	}
	length := float64(n - 1)
	return Agreement[Estimate]{slope(all, values).times(length), slope(middles, means).times(length)}
}

// slope is the slope of the straight line through points, by least squares.
func slope(x, y []float64) Estimate {
	middle, mean := stats.Mean(x), stats.Mean(y)
	cross, squares := 0.0, 0.0
	for i := range x {
		cross += (x[i] - middle) * (y[i] - mean)
		squares += (x[i] - middle) * (x[i] - middle)
	}
	slope, residual := cross/squares, 0.0
	for i := range x {
		r := y[i] - mean - slope*(x[i]-middle)
		residual += r * r
	}
	df := float64(len(x) - 2)
	return Estimate{slope, math.Sqrt(residual / df / squares), df}
}

func (e Estimate) times(factor float64) Estimate {
	return Estimate{e.Value * factor, e.Err * factor, e.DF}
}

// A Change is a point of a series between two stretches that differ.
type Change struct {
	At int     // index of the first value after it
	P  float64 // the chance of so clear a change among values that are alike
}

// leastStretch is how many values there are at least between two changes.
const leastStretch = 2

// permutations is how many orders of the values a change is compared with.
const permutations = 999

// Changes are the points where a series changes, in order, each at the level alpha: E-divisive (D.
// Matteson and N. James, "A Nonparametric Approach for Multiple Change Point Analysis of Multivariate
// Data", Journal of the American Statistical Association 109 (2014)) with the distance |a − b| and
// stretches of at least two values that reach to the next change, as for tests of performance at
// MongoDB (D. Daly et al., "The Use of Change Point Detection to Identify Software Performance
// Regressions in a Continuous Integration System", ICPE 2020). The permutations come from a fixed seed.
func Changes(values []float64, alpha float64) (found []Change) {
	chance := rand.New(rand.NewPCG(1, 2))
	ends := []int{0, len(values)}
	for {
		at, most := clearestOf(values, ends)
		if most == 0 {
			return found
		}
		p := chanceOf(most, values, ends, chance)
		if p > alpha {
			return found
		}
		i, _ := slices.BinarySearch(ends, at)
		ends, found = slices.Insert(ends, i, at), slices.Insert(found, i-1, Change{at, p})
	}
}

// chanceOf is how often the values have a change as clear after each stretch is put into another
// order.
func chanceOf(clear float64, values []float64, ends []int, chance *rand.Rand) float64 {
	mixed, as := slices.Clone(values), 1
	for range permutations {
		for i, begin := range ends[:len(ends)-1] {
			stretch := mixed[begin:ends[i+1]]
			chance.Shuffle(len(stretch), func(a, b int) { stretch[a], stretch[b] = stretch[b], stretch[a] })
		}
		if _, other := clearestOf(mixed, ends); other >= clear {
			as++
		}
	}
	return float64(as) / (permutations + 1)
}

// clearestOf is the clearest split of any stretch.
func clearestOf(values []float64, ends []int) (at int, most float64) {
	for i, begin := range ends[:len(ends)-1] {
		if split, clear := clearest(values[begin:ends[i+1]]); clear > most {
			at, most = begin+split, clear
		}
	}
	return at, most
}

// clearest is the split of values with the largest distance between its sides, and that distance:
// m·n/(m+n) times the energy distance of m and n values. It is 0 for too few values.
func clearest(values []float64) (at int, most float64) {
	n := len(values)
	// The sums of the distances of all pairs before a split, after it and across.
	before, after, across := 0.0, 0.0, 0.0
	for i, a := range values {
		for _, b := range values[:i] {
			after += math.Abs(a - b)
		}
	}
	for split := 1; split <= n-leastStretch; split++ {
		moved := values[split-1]
		for i, v := range values {
			d := math.Abs(v - moved)
			if i < split {
				before += d
				across -= d
			} else {
				after -= d
				across += d
			}
		}
		if split < leastStretch {
			continue
		}
		m, k := float64(split), float64(n-split)
		energy := 2*across/(m*k) - 2*before/(m*m) - 2*after/(k*k)
		if clear := m * k / (m + k) * energy; clear > most {
			at, most = split, clear
		}
	}
	return at, most
}
