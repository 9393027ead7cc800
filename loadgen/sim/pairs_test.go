package sim_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stats"
)

// poisson is a load: 200 requests at that rate, as a seed draws them.
func poisson(rate float64, seed uint64) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		random, due := rand.New(rand.NewPCG(seed, 0)), 0.0
		for i := range 200 {
			c := &dataset.Conversation{Due: new(due), Turns: []dataset.Turn{{Tail: dataset.Block{ID: uint64(i), Tokens: 750}, OutputLen: 100}}}
			if !yield(c, nil) {
				return
			}
			due += random.ExpFloat64() / rate
		}
	}
}

// ttft is the TTFT of a run on a machine whose speed differs by 1 % from run to run, with a server
// whose steps differ by 5 %.
func ttft(t *testing.T, rate float64, seed, noise uint64, slower float64) (d metrics.Distribution) {
	t.Helper()
	factor := slower * math.Exp(0.01*rand.New(rand.NewPCG(noise, 1)).NormFloat64())
	cost := speed.DefaultCost()
	for _, part := range []*time.Duration{&cost.Base, &cost.PerSequence, &cost.PerPromptToken} {
		*part = time.Duration(float64(*part) * factor)
	}
	cfg := sim.Config{Seed: noise, Profile: &speed.Profile{Step: speed.StepTime{Cost: cost, Jitter: 0.05}}}
	for r, err := range sim.Dry(cfg, poisson(rate, seed), sim.Bounds{}, new(sim.Forecast)) {
		if err != nil {
			t.Fatal(err)
		}
		d.Add((r.First - r.Sent).Seconds())
	}
	return d
}

// The unpaired differences are between runs with different seeds, as those of a gate without pairs.
func TestResampledPercentilesOfPairsVaryLess(t *testing.T) {
	const pairs = 100
	rates := []float64{10, 25, 32}
	switch {
	case testing.Short():
		rates = rates[1:2]
	case !full:
		rates = rates[1:]
	}
	spread := func(d []float64) float64 { return stats.Paired(d).Err * math.Sqrt(float64(len(d))) * 100 }
	for _, rate := range rates {
		var olds, news [pairs]metrics.Distribution
		for i := range uint64(pairs) {
			olds[i], news[i] = ttft(t, rate, i, 2*i, 1), ttft(t, rate, i, 2*i+1, 1.05)
		}
		for _, p := range []float64{50, 90, 99} {
			var unpaired, plain, resampled []float64
			for i := range olds {
				a, b, other := &olds[i], &news[i], &news[(i+1)%pairs]
				unpaired = append(unpaired, math.Log(other.Percentile(p)/a.Percentile(p)))
				plain = append(plain, math.Log(b.Percentile(p)/a.Percentile(p)))
				resampled = append(resampled, math.Log(b.Resampled(p)/a.Resampled(p)))
			}
			shift, sharper := stats.Paired(plain).Value*100, stats.Paired(resampled).Value*100
			t.Logf("%g/s, P%g: unpaired %.1f %%, paired %.1f %%, resampled %.1f %%; shift %.1f %% and %.1f %%", rate, p, spread(unpaired), spread(plain), spread(resampled), shift, sharper)
			if spread(plain) > spread(unpaired) || spread(resampled) > spread(plain) {
				t.Errorf("%g/s, P%g: unpaired %.1f %%, paired %.1f %%, resampled %.1f %%", rate, p, spread(unpaired), spread(plain), spread(resampled))
			}
			if math.Abs(sharper-shift) > 0.1*shift {
				t.Errorf("%g/s, P%g: shift %.1f %%, resampled %.1f %%", rate, p, shift, sharper)
			}
		}
	}
}

// With the same server on both sides, 200 series of five pairs find a change as often as the level of
// the test says: 10 times, at most 18 with 99 % confidence. 80 series find it 4 times, at most 9.
func TestResampledPercentilesOfEqualServersDoNotDiffer(t *testing.T) {
	if testing.Short() {
		t.Skip("800 simulated runs: in go test without -short")
	}
	const pairs, level = 5, 0.05
	series, most := uint64(80), 9
	if full {
		series, most = 200, 18
	}
	percentiles := [2]float64{50, 99}
	var worse, better [2]int
	for s := range series {
		var differences [2][]float64
		for i := range uint64(pairs) {
			seed := s*pairs + i
			a, b := ttft(t, 32, seed, 2*seed, 1), ttft(t, 32, seed, 2*seed+1, 1)
			for k, p := range percentiles {
				differences[k] = append(differences[k], math.Log(b.Resampled(p)/a.Resampled(p)))
			}
		}
		for k := range percentiles {
			if e := stats.Paired(differences[k]); e.Above(0) <= level {
				worse[k]++
			} else if e.Below(0) <= level {
				better[k]++
			}
		}
	}
	t.Logf("P%g: worse %d times, better %d times of %d", percentiles, worse, better, series)
	if max(worse[0], worse[1], better[0], better[1]) > most {
		t.Errorf("P%g: worse %d times, better %d times of %d", percentiles, worse, better, series)
	}
}
