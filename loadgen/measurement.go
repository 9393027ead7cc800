package loadgen

import (
	"cmp"
	"context"
	"os"
	"time"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/loadgen/watch"
	"github.com/servebench/servebench/loadgen/watch/sources"
	"github.com/servebench/servebench/loadgen/witness"
	"github.com/servebench/servebench/metrics"
)

// A measurement is the load of one target, and what watches it.
type measurement struct {
	*prepared
	header *metrics.Header // of what this process sends: see streamed
	live   *engine.Live
	lasts  time.Duration // the load lasts at least until then

	process sources.Process
	numbers numbers
	witness *witness.Witness // of the numbers
	source  sources.Server
	watches *watch.Set // of the server or each replica, its pool, and GPUs that are its alone
	silence func()     // ends the watch of a server that sends nothing
	probes  probes
	profile profiler
}

// An occasion is what the load tests of a run tell the headers of their targets.
type occasion struct {
	Group  string // id that several targets share; empty for a single one
	Series string // id that the repeats share; empty for a single repeat
}

// newMeasurement prepares what collects a target's numbers.
func newMeasurement(t *prepared, by Member, woke *metrics.Wake, o occasion, log *intervals,
	watches *watch.Set) *measurement {
	p := t.plan
	h := &metrics.Header{
		Run: cmp.Or(p.Shard.RunIDOf(p.Target), newRunID()), Target: p.Target, Group: o.Group, Series: o.Series,
		Solo: by.Solo, With: by.With,
		Delay: p.Traffic.Delay, WarmUp: p.Traffic.WarmUp, StartAt: p.Shard.StartAt,
		Sampled: p.Watch.Any(), Wake: woke, Rule: p.Report.Rule,
		Version: p.Program.Version, Commit: p.Program.Commit, Definitions: p.Report.Definitions, Flags: p.Flags,
		Config: p.Shard.Part(t.config),
	}
	m := &measurement{prepared: t, header: h, live: new(engine.Live), watches: watches,
		process: sources.Process{Target: watchedOf(p)},
		profile: profiler{voice: t.voice, calls: t.server.calls}, numbers: newNumbers(t.voice, h, log)}
	m.witness = &m.numbers.witness
	m.witness.Answers = t.config.Traits.Answers
	m.source = sources.Server{Target: m.process.Target, Calls: t.server.calls, Apart: t.server.apart, Say: t.say}
	m.witness.Counters = m.source.Counters
	return m
}

// watchedOf is the target of a plan, for what watches it.
func watchedOf(p *Plan) sources.Target {
	return sources.Target{Name: p.Target, Watch: &p.Watch, Server: &p.Server, Limits: &p.Limits,
		Spelling: p.Program.Spelling}
}

// look notes what the server has done so far, and which start of it this is, and opens its samplers.
func (m *measurement) look(ctx context.Context) error {
	if m.plan.Server.Handler == nil {
		m.witness.Look(ctx)
	}
	m.process.Find(ctx, m.server.calls, m.server.apart(), m.witness.Before)
	m.process.Open(m.watches)
	m.header.Server = m.process.Start
	if m.plan.Shard.Index > 0 {
		return nil // only the first of several shards samples the server
	}
	if err := m.source.Open(ctx, m.watches); err != nil {
		return &FailedError{err}
	}
	return nil
}

// load is the target's load. It has no schedule if the sessions bring their own times, if only the
// server's answers bound their number, or if a number of sessions is kept going.
func (m *measurement) load() (load engine.Load, err error) {
	traffic, w := &m.plan.Traffic, m.workload
	load = engine.Load{
		Run: m.header.Run, Target: m.to, Source: m.witness.Prompts.Compare(w.Source, false),
		Concurrency: m.concurrency(), Sessions: m.sessionSlots(), Breadth: traffic.Breadth,
		Absolute: traffic.Absolute, Delay: traffic.Delay, Stop: traffic.Duration, DrainLimit: m.plan.Limits.Tail,
		Live: m.live, Shard: m.plan.Shard.Shard, Reusable: m.reuse(),
	}
	if traffic.Warm {
		load.Ahead = m.ahead
	}
	load.Target.Retry = engine.Retry{Times: traffic.Retries, Total: m.plan.Limits.Total}
	if m.probes.prober, err = m.prober(); err != nil || m.plan.Workload.SelfTimed {
		return load, err
	}
	load.WarmUp, err = m.warmUpLoad()
	asked := &m.plan.Workload
	if err != nil || traffic.Endless(asked) || traffic.AtOnce(asked) && load.Sessions > 0 {
		return load, err
	}
	if load.Schedule, err = w.Arrivals().Schedule(w.N); err != nil {
		return load, err
	}
	if load.Lasts, err = w.Arrivals().Lasts(w.N); load.Stop > 0 {
		load.Lasts = min(load.Lasts, load.Stop)
	}
	return load, err
}

// prime makes everything ready just before the clock starts, and returns the load.
func (m *measurement) prime(ctx context.Context) (load engine.Load, err error) {
	if err := m.look(ctx); err != nil {
		return load, err
	}
	if load, err = m.load(); err != nil {
		return load, err
	}
	m.lasts = m.header.Began() + load.Lasts
	m.event(Event{Kind: Starting})
	m.profile.start(ctx)
	m.event(Event{Kind: Announced, Config: m.header.Config, Probes: m.plan.Traffic.Probes(&m.plan.Shard)})
	return load, nil
}

// start begins the clock.
func (m *measurement) start(epoch time.Time) {
	m.server.tally.Reset()
	m.header.Epoch = epoch
	m.numbers.recorder.begin(m.streamed())
}

// watch begins to sample.
func (m *measurement) watch(epoch time.Time) {
	m.silence = m.watchSilence(muteLoad(m.live))
	m.watches.Mask = m.plan.Server.Secrets.Mask
	m.watches.Start(epoch)
}

// streamed is the header of the record stream: the header of the whole run, with the shard's part
// in it.
func (m *measurement) streamed() *metrics.Header {
	h, s := *m.header, &m.plan.Shard
	h.Config = m.config
	if s.Several() {
		h.Shard, h.Shards = s.Index, s.Of
		h.Host, _ = os.Hostname() // without a name, the index identifies the shard
		h.ClockOffset, h.ClockError = host.Clock()
	}
	if s.ClockOffset != nil {
		h.ClockOffset, h.ClockError = *s.ClockOffset, 0
	}
	return &h
}

// warm opens the connections that the load will need first: soon requests are due within a second.
func (m *measurement) warm(ctx context.Context, soon int) error {
	if !m.plan.Traffic.Warm {
		return nil
	}
	opened, err := m.server.transport.Warm(ctx, m.plan.Server.BaseURL, m.warmable(soon))
	if err != nil {
		return interrupted(ctx, failedAs(m.plan.Program.Spell(naming.Warm), err))
	}
	m.say("opened %s beforehand", metrics.Counted(opened, "connection"))
	return nil
}

// warmable is how many connections are worth opening before the start: as many as can be in flight
// at once if all requests are due at the start, else one for each that is due soon.
func (t *prepared) warmable(soon int) int {
	n := max(1, soon)
	if t.plan.Traffic.AtOnce(&t.plan.Workload) {
		n = max(n, t.atOnce())
	}
	if limit := t.concurrency(); limit > 0 {
		n = min(n, limit)
	}
	return n
}

// ahead opens a connection for a request that is due soon, if waiting requests need one more.
func (m *measurement) ahead(ctx context.Context, waiting int) {
	m.server.transport.Ahead(ctx, m.plan.Server.BaseURL, waiting)
}
