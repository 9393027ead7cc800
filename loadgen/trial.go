package loadgen

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/loadgen/watch"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/gpus"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/gpu"
	"github.com/servebench/servebench/metrics/record"
)

// A trial is one load test: the loads of its targets, all on one clock.
type trial struct {
	targets []*target // at least one
	idle    []*Plan   // the targets of the run that get no load
	group   string    // id that several targets share; empty for a single one
	series  string    // id that the repeats share; empty for a single repeat

	aborter aborter
	watches watch.Set // of GPUs that the targets share

	smi   *host.NvidiaSMI // that samples GPUs; nil if it does not
	apps  *host.AppWatch  // by that program
	state gpu.State       // what was seen of the GPUs of this machine, without MPS
}

// test is the load test, from the first look at the servers to the summaries, one for each target.
// They are nil if no load was sent. There are both summaries and an error if the load was cut
// short.
func (tr *trial) test(ctx context.Context) ([]*metrics.Summary, error) {
	if err := tr.openGPUs(ctx); err != nil {
		return nil, interrupted(ctx, err)
	}
	for _, step := range []func(*target, context.Context) error{(*target).prepare, (*target).rehearse} {
		for _, t := range tr.targets {
			if err := step(t, ctx); err != nil {
				return nil, interrupted(ctx, t.named(err))
			}
		}
	}
	if err := tr.checkSockets(); err != nil {
		return nil, err
	}
	return tr.measure(ctx)
}

// checkSockets checks that the connections of all loads can be open at once.
func (tr *trial) checkSockets() error {
	if len(tr.targets) == 1 {
		return nil // prepare has checked them
	}
	n := 0
	for _, t := range tr.targets {
		n += t.atOnce()
	}
	return tr.targets[0].transport.CheckSockets(n)
}

// measure runs the load. If it is stopped, or an error cuts it short, it sums up what was done; it
// returns no summaries if nothing was done.
func (tr *trial) measure(ctx context.Context) ([]*metrics.Summary, error) {
	first := tr.targets[0]
	run := engine.Run{Drain: first.Limits.Drain, Deadline: first.Limits.Deadline, Ready: tr.ready,
		StartAt: first.Shard.start()}
	if tr.inMemory() {
		run.Wait = engine.Sleep
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	tr.aborter = aborter{AbortRule: first.Abort, stop: stop}
	for _, t := range tr.targets {
		load, err := tr.prime(ctx, t)
		if err != nil {
			return nil, err
		}
		run.Loads = append(run.Loads, load)
	}
	seen := func() *evidence.Evidence { return nil }
	over, unhook, stopProbes := func() {}, func() {}, func(error) {}
	run.Started = func(epoch time.Time) {
		if !tr.inMemory() {
			seen = tr.watchProcess()
		}
		for _, t := range tr.targets {
			t.tally.Reset()
			t.header.Epoch = epoch
			t.recorder.begin(t.streamed())
		}
		tr.watch(epoch)
		told := make(chan struct{})
		stop := context.AfterFunc(ctx, func() {
			defer close(told)
			tr.tellDraining(ctx)
		})
		over, unhook = first.observer.Loading(tr.loading()), func() {
			if !stop() {
				<-told
			}
		}
		stopProbes = tr.startProbes(ctx)
	}
	var ended time.Time
	run.Ended = func(at time.Time) { ended = at }
	cut := tr.take(run.Records(ctx))
	unhook()
	if why, stopped := aborted(ctx); stopped && cut == nil {
		cut = &FailedError{why}
	}
	if first.header.Epoch.IsZero() {
		return nil, interrupted(ctx, cut)
	}
	took := ended.Sub(first.header.Epoch)
	evidence := seen()
	tr.unwatch()
	over()
	stopProbes(cut)
	return tr.summaries(ctx, cut, took, evidence)
}

// watchProcess watches this process until seen is called, which returns the evidence.
func (tr *trial) watchProcess() (seen func() *evidence.Evidence) {
	var servers []int
	for _, t := range tr.targets {
		servers = append(servers, t.pid())
	}
	pulse := host.StartPulse(servers...)
	return func() *evidence.Evidence {
		var e evidence.Evidence
		pulse.Stop(&e)
		return &e
	}
}

// prime prepares a target's load just before the clock starts.
func (tr *trial) prime(ctx context.Context, t *target) (load engine.Load, err error) {
	if err := t.begin(ctx, tr); err != nil {
		return load, interrupted(ctx, t.named(err))
	}
	if load, err = t.load(); err != nil {
		return load, t.named(err)
	}
	t.lasts = t.header.Began() + load.Lasts
	t.event(Event{Kind: Starting})
	t.startProfiler(ctx)
	t.event(Event{Kind: Announced, Config: t.header.Config, Probes: t.probing()})
	return load, nil
}

// loading describes the load for the observer.
func (tr *trial) loading() Loading {
	header := tr.targets[0].header
	l := Loading{Epoch: header.Epoch, Began: header.Began()}
	for _, t := range tr.targets {
		l.Began = min(l.Began, t.header.Began())
		l.Total += t.share()
		if t.Traffic.Duration > 0 {
			l.Until = max(l.Until, t.header.Began()+t.Traffic.Duration)
		}
		l.Loads = append(l.Loads, LoadingTarget{t.Target, t.header.Run, t.share(), t.live})
	}
	return l
}

// warmLead is how long before a given start connections are opened, and warmRate how many a second
// at least are opened after that. A server may close connections that wait for long.
const (
	warmLead = 2 * time.Second
	warmRate = 2000
)

// ready opens the first connections of all targets, shortly before the load begins. soon is how many
// requests of each are due within a second.
func (tr *trial) ready(ctx context.Context, soon []int) error {
	start := tr.targets[0].Shard.start()
	if left := time.Until(start); !start.IsZero() && left > 0 {
		tr.targets[0].observer.Remark("", fmt.Sprintf("ready: the load begins at %s, in %.1f s",
			start.Format(time.RFC3339Nano), left.Seconds()))
		n := 0
		for i, t := range tr.targets {
			if t.Traffic.Warm {
				n += t.warmable(soon[i])
			}
		}
		engine.Sleep(ctx, start.Add(-warmLead-time.Duration(n)*time.Second/warmRate))
	}
	group, ctx := errgroup.WithContext(ctx)
	for i, t := range tr.targets {
		group.Go(func() error { return t.named(t.warm(ctx, soon[i])) })
	}
	return group.Wait()
}

// cutShort says what cut the run short.
func (tr *trial) cutShort(err error) error {
	if failed(err, record.Deadline) {
		return AbortError(fmt.Sprintf("--deadline %s", tr.targets[0].Limits.Deadline))
	}
	return fmt.Errorf("the run was cut short: %w", err)
}

// take records and collects the requests. The error says what cut the run short.
func (tr *trial) take(records iter.Seq2[*record.Record, error]) error {
	byRun := map[string]*target{}
	for _, t := range tr.targets {
		byRun[t.header.Run] = t
	}
	in := newIntake()
	defer in.close()
	for rec, err := range records {
		if err != nil {
			return &FailedError{tr.cutShort(err)}
		}
		t := byRun[rec.Run]
		rec.Result.Error = t.Server.Secrets.Mask(rec.Result.Error)
		a, mask := &rec.Answer, t.Server.Secrets.MaskWhole
		a.Text, a.Finish = mask(a.Text), mask(a.Finish)
		t.recorder.write(rec)
		tr.aborter.take(rec)
		in.do(func() { t.collect(rec) })
		tr.drain(in.do)
	}
	return nil
}

// summaries sums up each target of a trial that took so long. seen is what was seen of this process
// during the load, nil for nothing.
func (tr *trial) summaries(ctx context.Context, cut error, took time.Duration, seen *evidence.Evidence) (
	sums []*metrics.Summary, err error) {
	atOnce := 0
	for _, t := range tr.targets {
		s := t.collector.Summary(t.took(took).Seconds())
		s.Ending.Interrupted = ctx.Err() != nil || cut != nil
		if why, stopped := errors.AsType[AbortError](cut); stopped {
			s.Ending.StoppedBy = string(why)
		}
		s.Ending.Warnings = append(append(s.Ending.Warnings, t.Shard.late(t.header.Epoch)...), tr.troubles(t)...)
		atOnce += s.Truth.PeakConcurrency
		sums = append(sums, s)
	}
	gpus.Split(sums)
	for i, t := range tr.targets {
		s := sums[i]
		if seen != nil {
			s.Evidence, s.Client.Age = t.evidence(*seen), metrics.FromHistogram(t.tally.Ages())
			s.Evidence.OtherInFlight = atOnce - s.Truth.PeakConcurrency
			s.Evidence.GPU = tr.gpuState(context.WithoutCancel(ctx), t)
		}
		s.Printed.Probes, s.Ending.Incomplete = t.probes, append(s.Ending.Incomplete, t.short(s)...)
		s.Ending.Warnings = append(append(append(s.Ending.Warnings, t.warmUp.warnings()...), t.unsent(s)...), t.short(s)...)
		t.witness.report(context.WithoutCancel(ctx), s, t.witness.most(t.probesSent(), t.Shard.Of))
		if s.Printed.RateChanges, err = t.rateChanges(); err != nil {
			return nil, t.named(err)
		}
	}
	return sums, cut
}

// evidence is what was seen of this process and of the target's connections.
func (t *target) evidence(seen evidence.Evidence) *evidence.Evidence {
	t.tally.Report(&seen)
	seen.Connections.Proxy, seen.Selftest = t.transport.Proxy(t.Server.BaseURL), t.selftest()
	seen.Connections.Names = t.names.Report()
	seen.Connections.Unverified = t.Server.Insecure && strings.HasPrefix(t.Server.BaseURL, "https:")
	seen.CPU.MayPrioritize = host.MayPrioritize()
	seen.WriteBlocked, seen.Server.Restarted = t.recorder.blocked(), t.restarted()
	return &seen
}

// tellDraining reports what happens after the end of ctx: the first interrupt, or too many
// failures.
func (tr *trial) tellDraining(ctx context.Context) {
	limit := tr.targets[0].Limits.Drain
	if limit <= 0 {
		return
	}
	var c engine.Count
	for _, t := range tr.targets {
		c = c.Plus(t.live.Now())
	}
	_, stopped := aborted(ctx)
	tr.targets[0].observer.Draining(Draining{int(c.InFlight()), limit, stopped})
}
