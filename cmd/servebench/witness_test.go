package main

import (
	"context"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
)

// testified is what becomes of a run of 10 s after a warm-up on a server that
// counted so before and after.
func testified(warmUp time.Duration, before, after metrics.Counters) *metrics.Summary {
	w := witness{before: before, counted: true}
	w.counters = func(context.Context) (metrics.Counters, bool) { return after, true }
	s := metrics.NewCollector(&metrics.Header{WarmUp: warmUp}).Summary(10)
	s.Evidence = new(metrics.Evidence)
	w.testify(context.Background(), s)
	return s
}

// The server counts what it does for the warm-up, too.
func TestThroughputThatTheServerCountsIsOverTheWarmUpToo(t *testing.T) {
	after := metrics.Counters{DenoisingSteps: 40, CanvasPositions: 400, CommittedTokens: 200}
	for warmUp, want := range map[time.Duration]float64{0: 20, 10 * time.Second: 10} {
		if d := testified(warmUp, metrics.Counters{}, after).Diffusion; d == nil || d.CommittedThroughput != want {
			t.Errorf("after %v of warm-up %+v, want %v tokens/s", warmUp, d, want)
		}
	}
}

func TestServerThatBeganAgainTellsNothingOfItsPrefixCache(t *testing.T) {
	before, after := metrics.Counters{PrefixQueries: 1000, PrefixHits: 500}, metrics.Counters{PrefixQueries: 100, PrefixHits: 3}
	if e := testified(0, before, after).Evidence; e.PrefixQueries != 0 || e.PrefixHits != 0 {
		t.Errorf("%d of %d", e.PrefixHits, e.PrefixQueries)
	}
	after = metrics.Counters{PrefixQueries: 1100, PrefixHits: 503}
	if e := testified(0, before, after).Evidence; e.PrefixQueries != 100 || e.PrefixHits != 3 {
		t.Errorf("%d of %d", e.PrefixHits, e.PrefixQueries)
	}
}
