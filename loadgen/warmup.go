package loadgen

import (
	"fmt"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics/record"
)

// A warmUp is the load before the measured one. It hands over to the measured load without a pause.
type warmUp struct {
	source dataset.Source // nil without a warm-up
	failed int            // requests
	first  string         // the message of the first failure
}

// openWarmUp opens the warm-up's prompts, if there is a warm-up: the workload's dataset with other
// seeds. It stays quiet, since the dataset's remarks were already printed.
func (t *target) openWarmUp(from tokenizerSource) {
	if t.Traffic.WarmUp > 0 {
		from.say = func(string, ...any) {}
		seed := t.Workload.Seed + warmUpSeeds
		t.warmUp.source = t.Workload.Adapters.Assign(t.again(t.Plan, from, seed), nprand.NewPython(seed))
	}
}

// warmUpLoad is of the same kind as the load: other prompts of the same dataset, at the first rate
// of the load.
func (t *target) warmUpLoad() (w engine.WarmUp, err error) {
	if t.warmUp.source == nil {
		return w, nil
	}
	t.say("warming up for %s, then measuring without a break", t.Traffic.WarmUp)
	w.Lasts, w.Source = t.Traffic.WarmUp, t.witness.prompts.Compare(t.warmUp.source, true)
	if t.AtOnce() {
		return w, nil
	}
	a := t.Plan.arrivals()
	a.Rate, a.RampUp, a.Curve = t.firstRate(), nil, nil
	a.Rule = arrivals.SinceV010 // stretches the gaps to fill the time until the handover
	a.Seed = (a.Seed + warmUpSeeds) % seedCircle
	n, err := a.Count(t.Traffic.WarmUp)
	if err != nil {
		return w, fmt.Errorf("argument --warmup-duration: %w", err)
	}
	w.Schedule, err = a.Schedule(n)
	return w, err
}

// note counts how a request of the warm-up ended.
func (w *warmUp) note(rec *record.Record) {
	if rec.Result.Class == record.OK || rec.Result.Class == record.Cancelled {
		return
	}
	if w.failed == 0 {
		w.first = rec.Result.Error
	}
	w.failed++
}

// warnings are what a reader of the numbers should know about the warm-up.
func (w *warmUp) warnings() []string {
	if w.failed == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s of the warm-up failed, the first: %s", count(w.failed, "request"), w.first)}
}
