package targets

import (
	"fmt"
	"math"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
)

// A drifting server answers a twentieth later in each load test than in the one
// before. Nobody slows anybody down.
func drifting(order ...string) []Group {
	var sums []*metrics.Summary
	for i, name := range order {
		for _, target := range map[string][]string{"a": {"a"}, "b": {"b"}, "both": {"a", "b"}}[name] {
			h := &metrics.Header{Target: target, Solo: name != "both", Group: fmt.Sprint(i / 3)}
			c := aspect.Collector(h)
			first := 100 * math.Pow(1.05, float64(i))
			for range 3 {
				r := sentAt(0)
				r.Answer.Chunks.Append(durationMS(first))
				r.Answer.Chunks.Append(durationMS(2 * first))
				r.Tokens.Out, r.Times.Last, r.Times.End = 2, r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
				c.Add(r)
			}
			sums = append(sums, c.Summary(first))
		}
	}
	return Groups(sums)
}

func TestDriftIsNoInterferenceWhereRepeatsTakeTurns(t *testing.T) {
	for name, c := range map[string]struct {
		order []string
		a, b  float64 // slowdown
	}{
		"in turns":        {[]string{"a", "b", "both", "both", "b", "a"}, 1, 1},
		"never in turns":  {[]string{"a", "b", "both", "a", "b", "both"}, 1.05 * 1.05, 1.05},
		"four, in turns":  {[]string{"a", "b", "both", "both", "b", "a", "a", "b", "both", "both", "b", "a"}, 1, 1},
		"three, in turns": {[]string{"a", "b", "both", "both", "b", "a", "a", "b", "both"}, math.Pow(1.05, 2./3), math.Pow(1.05, 1./3)},
	} {
		pairs := Pair(drifting(c.order...))
		if len(pairs) != 2 || pairs[0].Target != "a" || len(pairs[0].Effects) != len(c.order)/3 {
			t.Fatalf("%s: %+v", name, pairs)
		}
		for i, want := range []float64{c.a, c.b} {
			mean, least, most := pairs[i].Slowdown(meanTTFT())
			if math.Abs(mean-want) > 1e-6 || least > mean+1e-9 || most < mean-1e-9 {
				t.Errorf("%s: %s slows down %v times, %v to %v, want %v", name, pairs[i].Target, mean, least, most, want)
			}
		}
	}
}

func TestWhatHasNoPairsHasNoSlowdown(t *testing.T) {
	if pairs := Pair(drifting("a", "b", "both")); len(pairs) != 0 {
		t.Errorf("of one repeat: %+v", pairs)
	}
	if pairs := Pair(drifting("both", "both", "both")); len(pairs) != 0 {
		t.Errorf("of none alone: %+v", pairs)
	}
	empty := Paired{Effects: []Sharing{{}, {}}}
	if mean, _, _ := empty.Slowdown(meanTTFT()); !math.IsNaN(mean) {
		t.Errorf("of nothing: %v", mean)
	}
}

// Each run with the other has its slowdown, from the run alone in the same repeat.
func TestSlowdownIsANumberOfARun(t *testing.T) {
	var sums []*metrics.Summary
	for _, g := range drifting("a", "b", "both", "both", "b", "a") {
		sums = append(append(sums, g.Solo...), g.Shared...)
	}
	for i, slowdowns := range Slowed(sums) {
		v, known := slowdowns["mean_ttft_slowdown"]
		if solo := sums[i].Header.Solo; known == solo {
			t.Errorf("%s: slowdown known: %v", sums[i].Header.TargetName(), known)
			continue
		}
		if !known {
			continue
		}
		steps := map[string]float64{"a0": 2, "b0": 1, "a1": -2, "b1": -1}[sums[i].Header.Target+sums[i].Header.Group]
		if want := math.Pow(1.05, steps); math.Abs(v-want) > 1e-6 {
			t.Errorf("%s: %v, want %v", sums[i].Header.TargetName(), v, want)
		}
	}
}
