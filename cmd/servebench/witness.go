package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/selftest"
	"github.com/servebench/servebench/metrics"
)

// A witness notices what a run does beside its requests: what its connections
// and this process go through, and what the server counts meanwhile.
type witness struct {
	evidence metrics.Evidence
	tally    *loadgen.Tally
	pulse    *loadgen.Pulse
	counters func(context.Context) (c metrics.Counters, ok bool) // the server's
	before   metrics.Counters
	counted  bool // the server told before
	repeated atomic.Int64
}

// look takes down what the server has counted so far.
func (w *witness) look(ctx context.Context) { w.before, w.counted = w.counters(ctx) }

// begin starts the watch with the clock.
func (w *witness) begin() {
	w.tally.Reset()
	w.pulse = loadgen.StartPulse()
}

// end ends the watch with the last request.
func (w *witness) end() {
	w.pulse.Stop(&w.evidence)
	w.tally.Report(&w.evidence)
}

// testify puts what was noticed into s and has s judged.
func (w *witness) testify(ctx context.Context, s *metrics.Summary) {
	if after, ok := w.counters(ctx); ok && w.counted {
		s.SpecDecode = w.before.SpecDecode(after)
		s.Diffusion = w.before.Diffusion(after, s.Seconds)
		w.evidence.PrefixQueries = after.PrefixQueries - w.before.PrefixQueries
		w.evidence.PrefixHits = after.PrefixHits - w.before.PrefixHits
	}
	w.evidence.Repeated = w.repeated.Load()
	s.Evidence, s.Age = &w.evidence, metrics.FromHistogram(w.tally.Ages())
	s.Judge()
}

// vouched is what the last selftest found of this machine.
func (b *bench) vouched() *metrics.Vouched {
	v, err := selftest.Stored(version)
	if err != nil {
		fmt.Fprintln(b.talk, "WARNING:", err)
	}
	return v
}
