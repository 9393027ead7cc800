package loadgen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/loadgen/watch"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/gpu"
	"github.com/servebench/servebench/metrics/record"
)

// A target is one server and its load: prepare finds out what to send and whether it can be sent,
// rehearse sends what comes before the clock starts. A trial runs the load.
type target struct {
	*Plan
	*connection
	*workload
	observer Observer
	recorder recorder

	served string         // the model's name in requests
	config metrics.Config // of the whole run if it has shards
	to     engine.Target

	solo bool   // one of several targets, alone
	with string // the other target, of two among more

	header    *metrics.Header // of what this process sends: see streamed
	live      *engine.Live
	collector *metrics.Collector
	witness   witness
	watches   watch.Set // of the server or each replica, its pool, and GPUs that are its alone
	unsilence func()    // ends the watch of a server that sends nothing

	warmUp warmUp
	mps    []gpu.MPS     // what MPS said before the load; nil for a server without MPS
	woke   *metrics.Wake // by SleepFirst

	prober    *engine.Prober  // nil without probes
	probes    *metrics.Probes // their results
	profiling bool            // the server's profiler is to be stopped
	profiled  bool            // it was started
	begun     int             // conversations of the measured load
	last      time.Duration   // when the last measured request ended, so far
	lasts     time.Duration   // the load lasts at least until then
}

// say passes a remark to the observer.
func (t *target) say(format string, args ...any) {
	t.observer.Remark(t.Target, fmt.Sprintf(format, args...))
}

// event passes a event to the observer.
func (t *target) event(s Event) {
	s.Target, s.Plan = t.Target, t.Plan
	t.observer.Event(s)
}

// named puts the target's name before an error.
func (t *target) named(err error) error {
	if err == nil || t.Target == "" {
		return err
	}
	if failed, ok := errors.AsType[*FailedError](err); ok {
		return &FailedError{t.named(failed.Err)}
	}
	return fmt.Errorf("target %s: %w", t.Target, err)
}

// share is how many conversations this process sends at most.
func (t *target) share() int { return t.Shard.Share(t.n) }

// concurrency is how many requests this process may have in flight; 0 for no limit.
func (t *target) concurrency() int { return t.Shard.Share(t.config.MaxConcurrency) }

// sessionSlots is how many sessions this process may have begun and not ended; 0 for no limit.
func (t *target) sessionSlots() int { return t.Shard.Share(t.config.MaxSessions) }

// atOnce is about how many requests can be in flight together, if the plan bounds that: all of them
// at an infinite rate. A warm-up has no bound. Sub-agents may make more.
func (t *target) atOnce() int {
	limit := cmp.Or(t.concurrency(), t.sessionSlots())
	if places := t.sessionSlots(); places > 0 {
		limit = min(limit, places)
	}
	switch {
	case t.Traffic.WarmUp > 0:
		return limit
	case limit > 0:
		return min(t.share(), limit)
	case t.AtOnce():
		return t.share()
	}
	return 0
}

// arrivals continue with numpy's generator where the dataset left it.
func (t *target) arrivals() arrivals.Process {
	a := t.Plan.arrivals()
	a.Start = t.numpy
	return a
}

// load is the target's load. It has no schedule if the sessions bring their own times, if only the
// server's answers bound their number, or if a number of sessions is kept going.
func (t *target) load() (load engine.Load, err error) {
	load = engine.Load{
		Run: t.header.Run, Target: t.to, Source: t.witness.prompts.Compare(t.source, false),
		Concurrency: t.concurrency(), Sessions: t.sessionSlots(), Breadth: t.Traffic.Breadth, Absolute: t.Traffic.Absolute,
		Delay: t.Traffic.Delay, Stop: t.Traffic.Duration, DrainLimit: t.Limits.Tail, Live: t.live,
		Shard: t.Shard.Shard, Reusable: t.reuse(),
	}
	if t.Traffic.Warm {
		load.Ahead = t.ahead
	}
	load.Target.Retry = engine.Retry{Times: t.Traffic.Retries, Total: t.Limits.Total}
	if t.prober, err = t.newProber(); err != nil || t.config.SelfTimed {
		return load, err
	}
	if load.WarmUp, err = t.warmUpLoad(); err != nil || t.Endless() || t.AtOnce() && load.Sessions > 0 {
		return load, err
	}
	if load.Schedule, err = t.arrivals().Schedule(t.n); err != nil {
		return load, err
	}
	if load.Lasts, err = t.arrivals().Lasts(t.n); load.Stop > 0 {
		load.Lasts = min(load.Lasts, load.Stop)
	}
	return load, err
}

// begin prepares what collects the trial's numbers.
func (t *target) begin(ctx context.Context, tr *trial) error {
	t.header = &metrics.Header{
		Run: cmp.Or(t.RunID(), newRunID()), Target: t.Target, Group: tr.group, Series: tr.series, Solo: t.solo, With: t.with,
		Delay: t.Traffic.Delay, WarmUp: t.Traffic.WarmUp, StartAt: t.Shard.StartAt,
		Sampled: t.Watch.any(), Wake: t.woke, Rule: t.Report.Rule,
		Version: t.Version, Commit: t.Commit, Definitions: t.Report.Definitions, Flags: t.Flags,
		Config: t.Shard.part(t.config),
	}
	t.to.Name, t.live = t.Target, new(engine.Live)
	t.collector = aspect.Collector(t.header)
	t.collector.KeepOutcomes, t.collector.KeepTimings = t.Keep.Texts, t.Keep.Latencies
	t.collector.KeepTrace, t.collector.MaxKept = t.Keep.Requests || t.Target != "" || t.Watch.any(), maxKept
	t.witness = witness{counters: t.counters, answers: t.config.Traits.Answers}
	if !tr.inMemory() {
		t.witness.look(ctx)
	}
	t.header.Server = t.start(ctx, tr.inMemory())
	t.mps = t.underMPS(ctx, gpu.Before)
	return t.openSamplers(ctx)
}

// maxKept is how many bytes a run uses for each target to look at its parts and for the arrays of
// its result file: enough for half a million requests of 128 tokens.
const maxKept = 512 << 20

// streamed is the header of the record stream: the header of the whole run, with the shard's part
// in it.
func (t *target) streamed() *metrics.Header {
	h, s := *t.header, &t.Shard
	h.Config = t.config
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
func (t *target) warm(ctx context.Context, soon int) error {
	if !t.Traffic.Warm {
		return nil
	}
	opened, err := t.transport.Warm(ctx, t.Server.BaseURL, t.warmable(soon))
	if err != nil {
		return interrupted(ctx, failedAs("--warm-connections", err))
	}
	t.say("opened %s beforehand", count(opened, "connection"))
	return nil
}

// warmable is how many connections are worth opening before the start: as many as can be in flight
// at once if all requests are due at the start, else one for each that is due soon.
func (t *target) warmable(soon int) int {
	n := max(1, soon)
	if t.AtOnce() {
		n = max(n, t.atOnce())
	}
	if limit := t.concurrency(); limit > 0 {
		n = min(n, limit)
	}
	return n
}

// ahead opens a connection for a request that is due soon, if waiting requests need one more.
func (t *target) ahead(ctx context.Context, waiting int) {
	t.transport.Ahead(ctx, t.Server.BaseURL, waiting)
}

// took is how long the measured load of this target took, in a trial that took all. What a warm-up
// still had in flight does not count.
func (t *target) took(all time.Duration) time.Duration {
	switch {
	case t.last == 0:
	case t.Target != "", t.Traffic.WarmUp > 0:
		all = min(all, max(t.last, t.lasts))
	}
	return max(0, all-t.header.Began())
}

// rateChanges are the rate changes of a ramp, up to the last request.
func (t *target) rateChanges() ([]metrics.RateChange, error) {
	rises, err := t.arrivals().RateRises(t.n)
	var changes []metrics.RateChange
	for _, r := range rises {
		if until := t.Traffic.Duration; until == 0 || r.Offset < until {
			changes = append(changes, metrics.RateChange{RPS: r.RPS, At: t.header.Epoch.Add(t.header.Began() + r.Offset)})
		}
	}
	return changes, err
}

// unsent says that a curve whose last rate is 0 had fewer requests than prompts.
func (t *target) unsent(s *metrics.Summary) []string {
	if t.Traffic.Curve == nil || t.Traffic.Duration > 0 || s.Ending.Interrupted || t.begun >= t.share() {
		return nil
	}
	return []string{fmt.Sprintf("--rate-curve: its last rate is 0: %d of --num-prompts %d were sent", t.begun, t.share())}
}

// short says that the caller's Source ended early.
func (t *target) short(s *metrics.Summary) []string {
	if t.Workload.Source == nil || t.Traffic.Duration > 0 || s.Ending.Interrupted || t.begun >= t.share() {
		return nil
	}
	return []string{fmt.Sprintf("%s were asked for, and the Source ended after %d", count(t.share(), "request"), t.begun)}
}

// collect adds a request to the trial's numbers.
func (t *target) collect(rec *record.Record) {
	rec = t.header.Counted(rec)
	if rec.Phase == record.WarmUp {
		t.warmUp.note(rec)
	} else {
		t.last = max(t.last, rec.Times.End)
		if rec.Turn == 0 {
			t.begun++
		}
	}
	t.witness.send(rec)
	t.collector.Add(rec)
	t.observer.Record(rec)
	t.recorder.log.write(rec)
}
