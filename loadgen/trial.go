package loadgen

import (
	"context"

	"github.com/servebench/servebench/loadgen/watch"
	"github.com/servebench/servebench/loadgen/watch/sources"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/failures"
	"github.com/servebench/servebench/metrics/record"
)

// A trial is one load test of some targets, all on one clock: a list of stages, each of which hands on to the next.
type trial struct {
	occasion
	members  []Member // at least one
	idle     []*Plan  // the targets of the run that get no load
	observer Observer
	log      *intervals

	servers []*contact // whose connections are to be closed
	targets []*measurement
}

// run makes the load test, from the first look at the servers to the summaries, one for each target.
// They are nil if no load was sent. There are both summaries and an error if the load was cut
// short.
func (tr *trial) run(ctx context.Context) ([]*metrics.Summary, error) {
	gpus, watches := new(sources.GPUs), make([]watch.Set, len(tr.members))
	for i, m := range tr.members {
		p := m.Plan
		if err := p.Watch.Check(p.Program.Spelling); err != nil {
			return nil, interrupted(ctx, err)
		}
		if err := gpus.Open(ctx, watchedOf(p), &watches[i]); err != nil {
			return nil, interrupted(ctx, &FailedError{err})
		}
	}
	targets, err := tr.prepare(ctx)
	if err != nil {
		return nil, err
	}
	for i, t := range targets {
		woke, err := rehearse{t}.run(ctx)
		if err != nil {
			return nil, interrupted(ctx, t.named(err))
		}
		m := newMeasurement(t, tr.members[i], woke, tr.occasion, tr.log, &watches[i])
		tr.targets = append(tr.targets, m)
	}
	if err := tr.checkSockets(); err != nil {
		return nil, err
	}
	done, err := (&measure{targets: tr.targets, idle: tr.idle, gpus: gpus}).run(ctx)
	if err != nil {
		return nil, err
	}
	return judge{done}.run(ctx)
}

// prepare reaches all servers before it prepares any target, which may take long.
func (tr *trial) prepare(ctx context.Context) (targets []*prepared, err error) {
	var voices []voice
	for _, m := range tr.members {
		v := voice{tr.observer, m.Plan}
		if v.plan, err = m.Plan.Sized(); err != nil {
			return nil, interrupted(ctx, voice{tr.observer, m.Plan}.named(err))
		}
		voices = append(voices, v)
		server, err := (&reach{voice: v}).run(ctx)
		if err != nil {
			return nil, interrupted(ctx, v.named(err))
		}
		tr.servers = append(tr.servers, server)
	}
	for i, v := range voices {
		t, err := (&prepare{v, tr.servers[i]}).run(ctx)
		if err != nil {
			return nil, interrupted(ctx, v.named(err))
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// checkSockets checks that the connections of all loads can be open at once.
func (tr *trial) checkSockets() error {
	if len(tr.targets) == 1 {
		return nil // the stage prepare has checked them
	}
	n := 0
	for _, m := range tr.targets {
		n += m.atOnce()
	}
	return tr.targets[0].plan.Program.SpellError(tr.servers[0].transport.CheckSockets(n))
}

// result is the result of the nth target.
func (tr *trial) result(ctx context.Context, nth int, s *metrics.Summary) *Result {
	m := tr.targets[nth]
	result := &Result{Summary: s, Plan: m.plan, Requests: m.share(), TokenIDs: m.workload.IDs}
	if m.plan.Traffic.Endless(&m.plan.Workload) {
		result.Requests = -1
	}
	if s.Completed == 0 && failures.Of(s).Requests(record.Status) > 0 {
		result.Unlisted = m.server.unlisted(ctx)
	}
	return result
}

// end stops the servers' profilers, and closes all connections.
func (tr *trial) end(ctx context.Context) {
	for _, m := range tr.targets {
		m.profile.stop(ctx)
	}
	for _, server := range tr.servers {
		server.close()
	}
}
