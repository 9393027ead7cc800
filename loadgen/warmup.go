package loadgen

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

// openWarmUp opens the warm-up's prompts, if there is one: the workload's dataset with other
// seeds, of which all has been said.
func (t *target) openWarmUp(from tokenizerSource) {
	if t.Traffic.WarmUp > 0 {
		from.say = func(string, ...any) {}
		t.warmUp.source = t.again(t.Plan, from, t.Workload.Seed+warmUpSeeds)
	}
}

// warmUpLoad is of the same kind as the load: other prompts of the same dataset, at
// the rate with which the load begins.
func (t *target) warmUpLoad() (w engine.WarmUp, err error) {
	if t.warmUp.source == nil {
		return w, nil
	}
	t.say("warming up for %s, then measuring without a break", t.Traffic.WarmUp)
	w.Lasts, w.Source = t.Traffic.WarmUp, t.witness.prompts.compare(t.warmUp.source, true)
	if t.AtOnce() {
		return w, nil
	}
	a := t.Plan.arrivals()
	a.Rate, a.RampUp, a.Curve = t.firstRate(), nil, nil
	a.Rule = arrivals.SinceV010 // stretched, its gaps reach to the handover
	a.Seed = (a.Seed + warmUpSeeds) % seedCircle
	n, err := a.Count(t.Traffic.WarmUp)
	if err != nil {
		return w, fmt.Errorf("argument --warmup-duration: %w", err)
	}
	w.Schedule, err = a.Schedule(n)
	return w, err
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
