// Package stats has the tests and intervals by which comparisons decide. It knows values, not runs.
//
// An Estimate is a difference with its standard error. Paired, Batches and Detrended make one of the
// values of two sides, for three designs of an experiment: pairs of neighbours in time, one side
// after the other, and the same with a trend. Which of them applies is a property of the design: choose
// before looking at the values.
package stats

import (
	"math"

	"github.com/aclements/go-moremath/stats"
)

// An Estimate is the Evidence of an estimated difference whose error follows Student's t distribution. The zero value
// is a difference of 0, known exactly. An Err that is infinite says nothing about the difference.
type Estimate struct {
	Value float64
	Err   float64 // standard error
	DF    float64 // degrees of freedom of Err
}

// unknown is the Estimate from too few values.
func unknown(value float64) Estimate { return Estimate{Value: value, Err: math.Inf(1), DF: 1} }

// Above is the p value of the test that the true difference is at most limit, against the
// alternative that it is above.
func (e Estimate) Above(limit float64) float64 {
	switch {
	case math.IsInf(e.Err, 1) || math.IsNaN(e.Value):
		return 1
	case e.Err == 0 && e.Value > limit:
		return 0
	case e.Err == 0:
		return 1
	}
	return stats.TDist{V: e.DF}.CDF((limit - e.Value) / e.Err)
}

// Below is the p value of the test that the true difference is at least limit.
func (e Estimate) Below(limit float64) float64 {
	return Estimate{-e.Value, e.Err, e.DF}.Above(-limit)
}

// Upper is the upper end of the one-sided confidence interval: the true difference is above it with a
// probability of at most p. It is +Inf for too few values.
func (e Estimate) Upper(p float64) float64 {
	switch {
	case math.IsInf(e.Err, 1):
		return math.Inf(1)
	case e.Err == 0:
		return e.Value
	}
	return e.Value + e.Err*quantile(e.DF, 1-p)
}

// Lower is the lower end: the true difference is below it with a probability of at most p.
func (e Estimate) Lower(p float64) float64 { return 2*e.Value - e.Upper(p) }

// quantile is the value that Student's t distribution with df degrees of freedom exceeds with a
// probability of 1 − p, which must be above 0 and below 1.
func quantile(df, p float64) float64 { return stats.InvCDF(stats.TDist{V: df})(p) }

// Paired is the mean of the differences of pairs.
func Paired(differences []float64) Estimate {
	n := len(differences)
	mean := stats.Mean(differences)
	if n < 2 {
		return unknown(mean)
	}
	return Estimate{mean, stats.StdDev(differences) / math.Sqrt(float64(n)), float64(n - 1)}
}

// Pooled is the difference of the means of new and old, two sides of independent values that vary
// alike: Student's test.
func Pooled(old, new []float64) Estimate {
	m, n := float64(len(old)), float64(len(new))
	difference := stats.Mean(new) - stats.Mean(old)
	if min(m, n) < 1 || m+n < 3 {
		return unknown(difference)
	}
	squares := 0.0
	for _, side := range [][]float64{old, new} {
		mean := stats.Mean(side)
		for _, v := range side {
			squares += (v - mean) * (v - mean)
		}
	}
	df := m + n - 2
	return Estimate{difference, math.Sqrt(squares / df * (1/m + 1/n)), df}
}

// Unlike is the difference of the means of new and old, two sides of independent values of which one may vary
// more than the other: Welch's test.
func Unlike(old, new []float64) Estimate {
	difference := stats.Mean(new) - stats.Mean(old)
	if min(len(old), len(new)) < 2 {
		return unknown(difference)
	}
	sum := ofMean(old).plus(ofMean(new))
	return Estimate{difference, math.Sqrt(sum.value), sum.df}
}

// A variance is an estimated variance.
type variance struct {
	value float64
	df    float64 // degrees of freedom
}

// ofMean is the variance of the mean of values, of which there are at least two.
func ofMean(values []float64) variance {
	n := float64(len(values))
	return variance{stats.Variance(values) / n, n - 1}
}

// plus is the variance of a sum, with its approximate degrees of freedom (F. Satterthwaite, "An
// Approximate Distribution of Estimates of Variance Components", Biometrics Bulletin 2 (1946)).
func (v variance) plus(w variance) variance {
	if w.value == 0 {
		return v
	}
	sum := v.value + w.value
	return variance{sum, sum * sum / (v.value*v.value/v.df + w.value*w.value/w.df)}
}

// batches is how many batches a side has.
const batches = 2

// BatchesDF are the degrees of freedom of Batches.
const BatchesDF = 2*batches - 2

// Batches is the difference of the means of new and old, each in the order of time, when all of old
// came before all of new. Neighbours in time are alike, so values are no independent evidence: the
// error is the error of the means of a few batches of neighbours (B. Schmeiser, "Batch Size Effects in the
// Analysis of Simulation Output", Operations Research 30 (1982)).
func Batches(old, new []float64) Estimate {
	difference := stats.Mean(new) - stats.Mean(old)
	if min(len(old), len(new)) < batches {
		return unknown(difference)
	}
	a, b := batchMeans(old), batchMeans(new)
	return Estimate{difference, math.Sqrt((stats.Variance(a) + stats.Variance(b)) / batches), BatchesDF}
}

func batchMeans(values []float64) (means []float64) {
	for i := range batches {
		means = append(means, stats.Mean(values[i*len(values)/batches:(i+1)*len(values)/batches]))
	}
	return means
}

// Detrended is the difference of new and old as Batches has them, less a trend that is the same in
// both, and the trend itself, from one value to the next: the least squares of value = a + trend·i + difference·(is
// new).
func Detrended(old, new []float64) (difference, trend Estimate) {
	m, n := float64(len(old)), float64(len(new))
	plain := stats.Mean(new) - stats.Mean(old)
	if m+n < 4 || m == 0 || n == 0 {
		return unknown(plain), unknown(0)
	}
	// Within the sides, the trend is the only cause; between their means it is over half of all
	// values.
	across := (m + n) / 2
	cross, squares := within(old, new)
	slope := cross / squares
	residual := 0.0
	for _, side := range [][]float64{old, new} {
		mean, middle := stats.Mean(side), float64(len(side)-1)/2
		for i, v := range side {
			r := v - mean - slope*(float64(i)-middle)
			residual += r * r
		}
	}
	df := m + n - 3
	variance := residual / df
	difference = Estimate{plain - slope*across, math.Sqrt(variance * (1/m + 1/n + across*across/squares)), df}
	return difference, Estimate{slope, math.Sqrt(variance / squares), df}
}

// within sums up, over both sides, the products of positions and values, and the squares of the
// positions, both counted from the middle of the side.
func within(sides ...[]float64) (cross, squares float64) {
	for _, side := range sides {
		middle := float64(len(side)-1) / 2
		for i, v := range side {
			x := float64(i) - middle
			cross += x * v
			squares += x * x
		}
	}
	return cross, squares
}
