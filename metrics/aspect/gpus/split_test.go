package gpus

import (
	"math"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
)

// A record stream has the load tests of a group one after the other. What a target of a pair pays is
// its share of the pair, as in the run, which has each load test by itself.
func TestEachLoadTestIsSplitByItself(t *testing.T) {
	sum := func(target, with string, busy time.Duration) *metrics.Summary {
		h := &metrics.Header{Group: "g", Target: target, With: with, Config: metrics.Config{Price: 3600, NumGPUs: 1}}
		return &metrics.Summary{Header: h, Truth: &metrics.Truth{Busy: busy}, When: metrics.When{Seconds: 10}}
	}
	alone := sum("a", "", time.Second)
	alone.Header.Solo = true
	sums := []*metrics.Summary{
		alone, sum("a", "b", time.Second), sum("b", "a", 3*time.Second), sum("b", "c", time.Second), sum("c", "b", time.Second),
		sum("a", "", time.Second), sum("b", "", time.Second), sum("c", "", 2*time.Second),
	}
	Split(sums)
	for i, want := range []float64{10, 2.5, 7.5, 5, 5, 2.5, 2.5, 5} {
		if got := Dollars(sums[i]); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: $%v, want $%v", sums[i].Header.TargetName(), got, want)
		}
	}
}
