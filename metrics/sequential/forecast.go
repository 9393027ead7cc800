package sequential

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A Forecast is the chance of a decision by one more pair, two more, and so on up to the most.
type Forecast []float64

// By is the chance of a decision by so many more pairs; 0 for none, and for fewer.
func (f Forecast) By(more int) float64 {
	if more <= 0 || len(f) == 0 {
		return 0
	}
	return f[min(more, len(f))-1]
}

// Likely is the chance of a decision that a promise takes.
const Likely = 0.8

// Needed is the fewest more pairs that bring a decision with a chance of Likely; 0 if none do.
func (f Forecast) Needed() int {
	return 1 + slices.IndexFunc(f, func(chance float64) bool { return chance >= Likely })
}

// Forecast predicts what the next pairs bring from the numbers after some pairs, at least 2. It draws
// true changes and variances that may have brought the numbers, and then pairs (the predictive power of D.
// Spiegelhalter, L. Freedman and P. Blackburn, "Monitoring Clinical Trials: Conditional or Predictive Power?",
// Controlled Clinical Trials 7 (1986), without prior knowledge). The seed is fixed: the same
// numbers have the same forecast.
func (r *Rule) Forecast(pairs int, numbers []Number) (forecast Forecast) {
	ended := r.simulate(pairs, numbers, func(random *rand.Rand, n Number) truth {
		chi := 0.0
		for range int(math.Round(n.DF)) {
			z := random.NormFloat64()
			chi += z * z
		}
		sd := n.Err * math.Sqrt(float64(pairs)*n.DF/chi)
		return truth{n.Value + sd/math.Sqrt(float64(pairs))*random.NormFloat64(), sd}
	})
	for by := pairs + 1; by <= r.Most; by++ {
		forecast = append(forecast, ended.decided(by))
	}
	return forecast
}

// A truth is what pairs of a number are drawn from.
type truth struct{ change, sd float64 }

// futures counts how simulated experiments end, by their pairs and outcomes.
type futures [][3]int

// trials is how many experiments are simulated. The standard error of a chance is at most 1 %.
const trials = 2500

// chance is the chance of an outcome by so many pairs.
func (f futures) chance(of outcome, pairs int) float64 {
	n := 0
	for _, ended := range f[:pairs+1] {
		n += ended[of]
	}
	return float64(n) / trials
}

func (f futures) decided(pairs int) float64 { return f.chance(worse, pairs) + f.chance(fine, pairs) }

// simulate continues experiments that have so many pairs.
func (r *Rule) simulate(pairs int, numbers []Number, draw func(*rand.Rand, Number) truth) futures {
	random := rand.New(rand.NewPCG(1, 2))
	ended, looks := make(futures, r.Most+1), r.looks(pairs, numbers)
	tallies, truths, now := make([]tally, len(numbers)), make([]truth, len(numbers)), slices.Clone(numbers)
	for range trials {
		for i, n := range numbers {
			truths[i], tallies[i] = draw(random, n), tallied(pairs, n)
		}
		for at := pairs + 1; at <= r.Most; at++ {
			for i, t := range truths {
				tallies[i].add(t.change + t.sd*random.NormFloat64())
				now[i].Value, now[i].Err = tallies[i].mean, tallies[i].err()
			}
			if looks[at] == nil {
				continue
			}
			if result := decide(now, looks[at]); result != open {
				ended[at][result]++
				break
			}
		}
	}
	return ended
}

// looks are the limits of each number at the looks after so many pairs; nil where there is no look.
func (r *Rule) looks(pairs int, numbers []Number) [][]limits {
	looks := make([][]limits, r.Most+1)
	for at := max(pairs+1, r.First); at <= r.Most; at++ {
		for _, n := range numbers {
			df := float64(at - 1)
			if pairs > 0 {
				df = n.DF + float64(at-pairs)
			}
			looks[at] = append(looks[at], r.limits(at, df))
		}
	}
	return looks
}

// A tally is the mean and the sum of squared deviations of n values (B. Welford, "Note on a Method for
// Calculating Corrected Sums of Squares and Products", Technometrics 4 (1962)).
type tally struct{ n, df, mean, squares float64 }

// tallied is the tally of the pairs behind a Number; empty for no pairs.
func tallied(pairs int, n Number) tally {
	if pairs == 0 {
		return tally{df: -1}
	}
	return tally{float64(pairs), n.DF, n.Value, n.Err * n.Err * float64(pairs) * n.DF}
}

func (t *tally) add(value float64) {
	t.n++
	t.df++
	from := value - t.mean
	t.mean += from / t.n
	t.squares += from * (value - t.mean)
}

// err is the standard error of the mean.
func (t *tally) err() float64 { return math.Sqrt(t.squares / t.df / t.n) }
