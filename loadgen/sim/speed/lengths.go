package speed

import (
	"fmt"
	"math"
)

// Lengths is a distribution of lengths in tokens. They are not random: the nth length is the
// quantile at the fractional part of 1/2 + n·stride. So every stretch of requests has the
// distribution's shape, and every run has the same lengths.
type Lengths struct {
	First []int `yaml:"first"` // lengths of the first requests, before the distribution starts

	Median float64 `yaml:"median"` // of a log-normal distribution; 0 for a normal one
	Sigma  float64 `yaml:"sigma"`  // standard deviation of its logarithm
	Mean   float64 `yaml:"mean"`   // of a normal distribution
	SD     float64 `yaml:"sd"`     // its standard deviation

	Low  int `yaml:"low"`  // the least length, 1 or more
	High int `yaml:"high"` // the greatest
}

// At is the length of request n.
func (l *Lengths) At(n int64, stride float64) int {
	if n < int64(len(l.First)) {
		return l.First[n]
	}
	_, u := math.Modf(0.5 + float64(n-int64(len(l.First)))*stride)
	z := math.Sqrt2 * math.Erfinv(2*u-1)
	x := l.Mean + l.SD*z
	if l.Median > 0 {
		x = l.Median * math.Exp(l.Sigma*z)
	}
	return int(max(float64(l.Low), min(math.Round(x), float64(l.High))))
}

// None reports whether there are no lengths.
func (l *Lengths) None() bool { return l.High == 0 }

func (l *Lengths) check() error {
	logNormal, normal := l.Median != 0 || l.Sigma != 0, l.Mean != 0 || l.SD != 0
	switch {
	case l.None() && (len(l.First) > 0 || logNormal || normal || l.Low != 0):
		return fmt.Errorf("lengths need high, the greatest of them")
	case l.None():
		return nil
	case l.Low < 1 || l.High < l.Low:
		return fmt.Errorf("lengths must be from low, which is 1 or more, to high")
	case logNormal == normal:
		return fmt.Errorf("lengths need either median and sigma or mean and sd")
	case l.Median < 0 || l.Sigma < 0 || l.Mean < 0 || l.SD < 0:
		return fmt.Errorf("lengths must not be negative")
	}
	for _, n := range l.First {
		if n < 1 {
			return fmt.Errorf("lengths must be 1 or more")
		}
	}
	return nil
}
