package sharing

import (
	"math/rand/v2"
	"testing"
)

// noise are two targets of a run with ten blocks that have nothing to do with each other.
func noise(seed uint64) []field {
	r := rand.New(rand.NewPCG(seed, 0))
	var all []signals
	for range 2 {
		var s signals
		for range lags + mostBlocks*blockBins {
			s.gap, s.decoded = append(s.gap, 10+r.NormFloat64()), append(s.decoded, r.Float64())
			s.prefill = append(s.prefill, float64(r.IntN(2)))
		}
		all = append(all, s)
	}
	return fieldsOf(all)
}

// The search for the peak makes no correlation larger: of 200 runs without one, 5 at most seem to have one.
func TestNoiseIsNoCause(t *testing.T) {
	found := 0
	for seed := range uint64(200) {
		var c Cause
		if c.measure([][]field{noise(seed)}, 0, 1, step, 1); c.Correlation.Low > 0 {
			found++
		}
	}
	if found > 5 {
		t.Errorf("%d of 200 runs", found)
	}
}

// The more pairs there are, the wider the interval of each.
func TestIntervalsOfAllPairsHoldTogether(t *testing.T) {
	var one, six Cause
	one.measure([][]field{noise(1)}, 0, 1, step, 1)
	six.measure([][]field{noise(1)}, 0, 1, step, 6)
	if one.Correlation.Value != six.Correlation.Value || !(six.Correlation.Low < one.Correlation.Low) || !(six.Correlation.High > one.Correlation.High) {
		t.Errorf("%+v for one pair, %+v for six", one.Correlation, six.Correlation)
	}
}
