package sharing

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics/stats"
)

// Causes says whose prompts lengthen whose gaps between tokens.
type Causes struct {
	Bin    time.Duration // width of the bins
	Blocks int           // blocks of neighbouring bins, in which each correlation is measured once
	Pairs  []Cause       // each target on each other one
	Slowed []Slowed      // one for each target

	// Same are targets that get requests at the same times. What one does cannot be distinguished from
	// what the other does, so there is no Cause of them.
	Same [][2]string
}

// A Cause is what the prompts of one target do to the gaps of another.
type Cause struct {
	By, On string

	// Correlation is the partial cross-correlation of By's prefill with On's gaps at its peak, and Lag
	// how much later than the prefill the gaps end. Effect is by how many ms On's gaps are longer when
	// By prefills more than on average than when it prefills less.
	Correlation, Effect Interval
	Lag                 time.Duration

	// Confounded says that there is no correlation, since the requests of By come when another
	// target's come.
	Confounded bool

	blocks []float64 // the correlation in each block
}

// An Interval is a mean over blocks with its interval. NaN where unknown.
type Interval struct{ Value, Low, High float64 }

// Slowed says who lengthens the gaps of a target.
type Slowed struct {
	Target string

	// By is the one target that does; empty if none is found, or if several may be it.
	By string

	// Among are several targets of which one or all do.
	Among []string
}

const (
	lags        = 25 // bins by which an effect may be later than its cause, at most
	blockBins   = 100
	mostBlocks  = 10 // of one run
	leastRows   = 50 // bins with gaps in a block
	leastBlocks = 6  // of all runs, for an interval
)

// Causes are the causes in the runs with all targets; nil if no run has single requests.
//
// The bins are as wide as a gap between tokens, or up to twice as wide. In each bin a target has its
// prefill, the prompt tokens of each request spread evenly from when it was sent to its first token,
// and its gap, the mean of the gaps that end there. The cross-correlation of By's prefill with On's gap
// (Box, Jenkins, Reinsel, Time Series Analysis, ch. 12) is partial: what a linear regression of both
// finds of On's own prefill, of its number of requests in decoding and of the prefill of all other
// targets is taken out of both (Frisch, Waugh, Econometrica 1, 1933). So a burst of On's own, or of a
// third target, does not count for By.
//
// The interval is Student's t over blocks of neighbouring bins (batch means: Schmeiser, Operations
// Research 30, 1982). The intervals of all pairs and lags hold together with 95 % (Bonferroni), since the
// blocks mostly choose the same lag. Each block
// takes the lag at which the other blocks have their peak, so that the search for the peak makes no
// correlation larger.
//
// A target is named if its interval is above 0 and its correlation is above each other's in the same
// blocks with 95 %. It is a cause only if the times of requests are independent of the server's state,
// which a request rate with a separate seed for each target guarantees.
func (l *Load) Causes() *Causes {
	var views []*View
	for _, v := range l.Views {
		if ordered := v.inOrder(l.targets()); ordered != nil {
			views = append(views, ordered)
		}
	}
	if views == nil {
		return nil
	}
	width := binsIn(views)
	c := &Causes{Bin: time.Duration(width) * step}
	fields := make([][]field, len(views))
	for i, v := range views {
		fields[i] = fieldsOf(v.coarser(width))
		c.Blocks += blocksOf(fields[i])
		for _, s := range v.same {
			same := [2]string{v.names[s[0]], v.names[s[1]]}
			if !slices.Contains(c.Same, same) {
				c.Same = append(c.Same, same)
			}
		}
	}
	names := views[0].names
	pairs := len(names) * (len(names) - 1)
	for on, victim := range names {
		for by, name := range names {
			if by == on {
				continue
			}
			cause := Cause{By: name, On: victim, Confounded: c.confounded(name)}
			if !cause.Confounded {
				cause.measure(fields, by, on, c.Bin, pairs)
			}
			c.Pairs = append(c.Pairs, cause)
		}
		c.Slowed = append(c.Slowed, c.slowed(victim))
	}
	return c
}

// Short reports that the runs are too short for any interval.
func (c *Causes) Short() bool { return c.Blocks < leastBlocks }

// Least is how long the runs must be together for an interval.
func (c *Causes) Least() time.Duration { return (leastBlocks*blockBins + lags) * c.Bin }

// confounded reports that requests of a target come when the requests of another one do.
func (c *Causes) confounded(name string) bool {
	return slices.ContainsFunc(c.Same, func(same [2]string) bool { return same[0] == name || same[1] == name })
}

// binsIn is how many steps wide the bins are: twice as many until they hold a gap.
func binsIn(views []*View) int {
	longest := 0.0
	for _, v := range views {
		if gap := v.gap(); gap > longest {
			longest = gap
		}
	}
	n := 1
	for float64(n)*step.Seconds()*1000 < longest {
		n *= 2
	}
	return n
}

// measure fills in the numbers of the target by on the target on, of so many pairs.
func (c *Cause) measure(runs [][]field, by, on int, bin time.Duration, pairs int) {
	var correlations, effects [][]float64
	for _, fields := range runs {
		for _, b := range lagged(fields, by, on) {
			correlations, effects = append(correlations, b.correlations), append(effects, b.effects)
		}
	}
	nan := math.NaN()
	c.Correlation, c.Effect = Interval{nan, nan, nan}, Interval{nan, nan, nan}
	if len(correlations) == 0 {
		return
	}
	whole := total(correlations)
	c.Lag = time.Duration(peak(whole)) * bin
	var effect []float64
	for i, own := range correlations {
		others := slices.Clone(whole)
		for lag := range others {
			others[lag] -= own[lag]
		}
		at := peak(others)
		c.blocks, effect = append(c.blocks, own[at]), append(effect, effects[i][at])
	}
	miss := confidence / float64(pairs*(lags+1))
	c.Correlation, c.Effect = interval(c.blocks, miss), interval(effect, miss)
}

// total is the sum of the blocks at each lag.
func total(blocks [][]float64) []float64 {
	sums := make([]float64, lags+1)
	for _, b := range blocks {
		for lag, v := range b {
			sums[lag] += v
		}
	}
	return sums
}

// peak is the lag with the largest value.
func peak(values []float64) (at int) {
	for lag, v := range values {
		if v > values[at] {
			at = lag
		}
	}
	return at
}

// interval is the mean of values with its interval, which misses the truth on each side with that
// chance. It needs leastBlocks.
func interval(values []float64, miss float64) Interval {
	e := stats.Paired(values)
	if len(values) < leastBlocks {
		return Interval{e.Value, math.NaN(), math.NaN()}
	}
	return Interval{e.Value, e.Lower(miss), e.Upper(miss)}
}

// slowed says who lengthens the gaps of a target.
func (c *Causes) slowed(target string) Slowed {
	var all []*Cause
	for i := range c.Pairs {
		if p := &c.Pairs[i]; p.On == target && !p.Confounded {
			all = append(all, p)
		}
	}
	found := slices.DeleteFunc(slices.Clone(all), func(p *Cause) bool { return !(p.Correlation.Low > 0) })
	if len(found) == 0 {
		return Slowed{Target: target}
	}
	first := slices.MaxFunc(found, func(a, b *Cause) int { return cmp.Compare(a.Correlation.Value, b.Correlation.Value) })
	s := Slowed{Target: target, Among: []string{first.By}}
	for _, p := range found {
		if p != first && !(above(first, p) > 0) {
			s.Among = append(s.Among, p.By)
		}
	}
	if len(s.Among) == 1 {
		s.By, s.Among = first.By, nil
	}
	return s
}

// above is by how much the correlation of a is above the one of b at least, in the same blocks.
func above(a, b *Cause) float64 {
	if len(a.blocks) != len(b.blocks) {
		return math.Inf(-1)
	}
	var differences []float64
	for i := range a.blocks {
		differences = append(differences, a.blocks[i]-b.blocks[i])
	}
	return interval(differences, confidence).Low
}
