package main

import (
	"context"
	"fmt"
	"hash/maphash"
	"math"
	"sync/atomic"
	"time"

	"github.com/servebench/servebench/dataset"
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

// maxKnown bounds the prompts that are remembered: 40 MB of hashes.
const maxKnown = 1 << 20

// compare counts the conversations of source that begin as an earlier one does: a
// server's prefix cache is meant to know them.
func (w *witness) compare(source dataset.Source) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		seed, known := maphash.MakeSeed(), map[uint64]struct{}{}
		for c, err := range source {
			if err == nil && len(c.Turns) > 0 {
				hash := promptHash(seed, &c.Turns[0])
				if _, again := known[hash]; again {
					w.repeated.Add(1)
				} else if len(known) < maxKnown {
					known[hash] = struct{}{}
				}
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

func promptHash(seed maphash.Seed, turn *dataset.Turn) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	h.WriteString(turn.Prompt)
	h.Write(turn.Messages)
	for _, id := range turn.TokenIDs {
		maphash.WriteComparable(&h, id)
	}
	return h.Sum64()
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

// warm opens the connections that the load is going to need.
func (b *bench) warm(ctx context.Context) error {
	if !b.Traffic.Warm {
		return nil
	}
	opened, err := b.transport.Warm(ctx, b.Server.BaseURL, b.warmable())
	if err != nil {
		return interrupted(ctx, exitError{fmt.Errorf("--warm-connections: %w", err), exitNo})
	}
	b.say("opened %s beforehand", count(opened, "connection"))
	return nil
}

// unusedFor is how long loadgen keeps a connection that is not used.
const unusedFor = 4 * time.Second

// warmable is how many connections are worth opening beforehand: what can be in
// flight at once or, where nothing bounds that, what is sent before a connection
// has lain unused for too long.
func (b *bench) warmable() int {
	if n := b.atOnce(); n > 0 {
		return n
	}
	rate := b.config.RequestRate
	if r := b.config.RampUp; r != nil {
		rate = float64(r.Start)
	}
	return min(b.n, max(1, int(math.Ceil(rate*unusedFor.Seconds()))))
}
