// Package burst is the burst that opens a run whose requests are all due at once.
package burst

import (
	"math"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/tally"
)

// A Burst is of the measured requests that open a conversation. It is zero for a run whose requests are not all due
// at once.
type Burst struct {
	Requests int           // that waited for no slot
	Took     time.Duration // until the last of them was sent

	config   *metrics.Config
	requests int // so far
	took     time.Duration
	due      tally.Extent
	spaced   bool // they were not all due at once
}

// Kind is the aspect as the list has it.
var Kind = &metrics.Kind{
	Name: "burst", New: func(h *metrics.Header) metrics.Aspect { return &Burst{config: &h.Config} },
	Facts: facts, Text: text,
}

// Of is the aspect of a run. A part of a run has no burst: it opens the whole run.
func Of(s *metrics.Summary) *Burst {
	if s.Parts.Of != nil {
		return new(Burst)
	}
	return metrics.View[Burst](s)
}

func facts(s *metrics.Summary) []metrics.Fact {
	b := Of(s)
	if b.Requests == 0 {
		return nil
	}
	return []metrics.Fact{
		{Key: "ramp_requests", Value: b.Requests}, {Key: "ramp_ms", Value: metrics.Milliseconds(b.Took)},
	}
}

const text = `Initial burst
	{{with .ramp_requests}}{{.}} sent within {{printf "%.2f" $.ramp_ms}} ms{{end}}`

// Add adds a request.
func (b *Burst) Add(r *record.Record) {
	if r.Phase != record.Main || r.Turn > 0 {
		return
	}
	b.due.Add(r.Times.Due)
	b.spaced = b.spaced || b.due.Last > b.due.First
	if r.Queue() == 0 {
		b.requests++
		b.took = max(b.took, r.Lag())
	}
}

// Shift moves all times.
func (b *Burst) Shift(later time.Duration) {
	var due tally.Extent
	due.Merge(b.due, later)
	b.due = due
}

// Merge adds another shard's requests. Both bursts become one, from the first request due to the last one sent:
// shards do not begin at the same instant.
func (b *Burst) Merge(o metrics.Aspect) {
	other := o.(*Burst)
	switch {
	case !other.due.Any:
	case !b.due.Any:
		b.took = other.took
	default:
		b.took = max(b.due.First+b.took, other.due.First+other.took) - min(b.due.First, other.due.First)
	}
	b.requests += other.requests
	b.due.Merge(other.due, 0)
	b.spaced = b.spaced || other.spaced
}

// Sum is the burst, if there was one.
func (b *Burst) Sum(float64) metrics.Aspect {
	if b.config.Paced() || !math.IsInf(b.config.RequestRate, 1) || b.spaced {
		return new(Burst)
	}
	return &Burst{Requests: b.requests, Took: b.took}
}
