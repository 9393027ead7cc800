package main

import (
	"fmt"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics"
)

// A warmUp is the load that goes before the measured one and hands over to it.
type warmUp struct {
	source dataset.Source // nil without one
	failed int            // requests
	first  string         // what the first that failed said
}

// warmUpLoad is of the same kind as the load: other prompts of the same dataset, at
// the rate with which the load begins.
func (b *bench) warmUpLoad() (w engine.WarmUp, err error) {
	if b.warmUp.source == nil {
		return w, nil
	}
	b.say("warming up for %s, then measuring without a break", b.Traffic.WarmUp)
	w.Lasts, w.Source = b.Traffic.WarmUp, b.witness.prompts.compare(b.warmUp.source, true)
	if b.atInfiniteRate() {
		return w, nil
	}
	a := b.options.arrivals()
	a.Rate, a.RampUp, a.Curve = b.firstRate(), nil, nil
	a.Rule = arrivals.SinceV010 // stretched, its gaps reach to the handover
	a.Seed = (a.Seed + warmUpSeeds) % seedCircle
	n, err := a.Count(b.Traffic.WarmUp)
	if err != nil {
		return w, fmt.Errorf("argument --warmup-duration: %w", err)
	}
	w.Schedule, err = a.Schedule(n)
	return w, err
}

// firstRate is that with which the load begins.
func (b *bench) firstRate() float64 {
	switch t := &b.Traffic; {
	case t.RampUp != nil:
		return float64(t.RampUp.Start)
	case t.Curve != nil:
		return t.Curve.Beginning()
	default:
		return t.RequestRate
	}
}

// note takes down how a request of the warm-up ended.
func (w *warmUp) note(rec *metrics.Record) {
	if rec.Class == metrics.OK || rec.Class == metrics.Cancelled {
		return
	}
	if w.failed == 0 {
		w.first = rec.Error
	}
	w.failed++
}

// warnings says what a reader of the numbers should know of the warm-up.
func (w *warmUp) warnings() []string {
	if w.failed == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s of the warm-up failed, the first: %s", count(w.failed, "request"), w.first)}
}
