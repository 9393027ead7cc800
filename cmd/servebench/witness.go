package main

import (
	"context"
	"fmt"

	"github.com/servebench/servebench/loadgen/selftest"
	"github.com/servebench/servebench/metrics"
)

// A witness notices what the server counts while a run goes on, and how its
// prompts repeat.
type witness struct {
	counters func(context.Context) (c metrics.Counters, ok bool) // the server's
	before   metrics.Counters
	counted  bool // the server told before
	prompts  memory
}

// look takes down what the server has counted so far.
func (w *witness) look(ctx context.Context) { w.before, w.counted = w.counters(ctx) }

// testify puts what was noticed into s and its Evidence, and has s judged.
func (w *witness) testify(ctx context.Context, s *metrics.Summary) {
	if after, ok := w.counters(ctx); ok && w.counted {
		s.SpecDecode = w.before.SpecDecode(after)
		s.Diffusion = w.before.Diffusion(after, s.Seconds+s.Header.WarmUp.Seconds())
		// A server that began again counts from 0.
		if queries, hits := after.PrefixQueries-w.before.PrefixQueries, after.PrefixHits-w.before.PrefixHits; queries >= 0 && hits >= 0 {
			s.Evidence.PrefixQueries, s.Evidence.PrefixHits = queries, hits
		}
	}
	s.Evidence.Repeated = w.prompts.repeated
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
