package loadgen

import (
	"fmt"

	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/loadgen/settings"
	"github.com/servebench/servebench/loadgen/workload"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// A warmUp is how the load before the measured one went. It hands over to the measured load without a pause.
type warmUp struct {
	failed int    // requests
	first  string // the message of the first failure
}

// openWarmUp opens the warm-up's prompts, if there is a warm-up: the workload's dataset with other
// seeds. It stays quiet, since the dataset's remarks were already printed.
func (t *prepared) openWarmUp(from workload.Origin) {
	if t.plan.Traffic.WarmUp > 0 {
		from.Say = func(string, ...any) {}
		seed := t.plan.Workload.Seed + workload.WarmUpSeeds
		t.warmUp = t.plan.Workload.Adapters.Assign(t.workload.Again(from, seed), nprand.NewPython(seed))
	}
}

// warmUpLoad is of the same kind as the load: other prompts of the same dataset, at the first rate
// of the load.
func (m *measurement) warmUpLoad() (w engine.WarmUp, err error) {
	if m.warmUp == nil {
		return w, nil
	}
	lasts := m.plan.Traffic.WarmUp
	m.say("warming up for %s, then measuring without a break", lasts)
	w.Lasts, w.Source = lasts, m.witness.Prompts.Compare(m.warmUp, true)
	if m.plan.Traffic.AtOnce(&m.plan.Workload) {
		return w, nil
	}
	a := m.plan.Traffic.Arrivals(&m.plan.Workload)
	a.Rate, a.RampUp, a.Curve = m.plan.Traffic.FirstRate(), nil, nil
	a.Rule = arrivals.SinceV010 // stretches the gaps to fill the time until the handover
	a.Seed = (a.Seed + workload.WarmUpSeeds) % settings.Seeds
	n, err := a.Count(lasts)
	if err != nil {
		return w, fmt.Errorf("%s: %w", m.plan.Program.Argument(naming.WarmUp), err)
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
	return []string{fmt.Sprintf("%s of the warm-up failed, the first: %s", metrics.Counted(w.failed, "request"), w.first)}
}
