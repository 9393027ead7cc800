package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/metrics"
)

// A trial is one load test: the loads of its benches, all on one clock.
type trial struct {
	benches []*bench // at least one
	group   string   // id of the experiment that the trial is a part of; empty for a single target
	series  string   // id of the repeats that the trial is one of; empty for none
	solo    bool     // of several targets, one alone
	talk    io.Writer
	screen  io.Writer // where progress is shown; nil shows none

	aborter    aborter
	gpuSampler host.Sampler // nil when GPUs are not sampled
	gpus       *host.Watch  // of the sampler
}

// test is the load test from the first look at the servers to the summaries, one
// for each bench. They are nil when no load was sent, and there may be both them
// and an error when the load was cut short.
func (t *trial) test(ctx context.Context) ([]*metrics.Summary, error) {
	if err := t.openGPUs(ctx); err != nil {
		return nil, interrupted(ctx, err)
	}
	for _, step := range []func(*bench, context.Context) error{(*bench).prepare, (*bench).rehearse} {
		for _, b := range t.benches {
			if err := step(b, ctx); err != nil {
				return nil, interrupted(ctx, b.named(err))
			}
		}
	}
	if err := t.checkSockets(); err != nil {
		return nil, err
	}
	return t.measure(ctx)
}

// checkSockets finds out whether the connections of all loads can be open at once.
func (t *trial) checkSockets() error {
	if len(t.benches) == 1 {
		return nil // its own preparation has
	}
	n := 0
	for _, b := range t.benches {
		n += b.atOnce()
	}
	return t.benches[0].transport.CheckSockets(n)
}

// named puts the name of the target before an error about it.
func (b *bench) named(err error) error {
	if err == nil || b.name == "" {
		return err
	}
	if exit, ok := errors.AsType[exitError](err); ok {
		return exitError{b.named(exit.error), exit.code}
	}
	return fmt.Errorf("target %s: %w", b.name, err)
}

// measure is the load itself. Stopped, or cut short by an error, it sums up what
// was done; there are no summaries when nothing was.
func (t *trial) measure(ctx context.Context) ([]*metrics.Summary, error) {
	limits := t.benches[0].Limits
	run := engine.Run{Drain: limits.Drain, Deadline: limits.Deadline, Ready: t.ready, StartAt: t.benches[0].Shard.start()}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	t.aborter = aborter{abortRule: t.benches[0].Abort, stop: stop}
	for _, b := range t.benches {
		if err := b.begin(ctx, t); err != nil {
			return nil, interrupted(ctx, b.named(err))
		}
		load, err := b.load()
		if err != nil {
			return nil, b.named(err)
		}
		b.lasts = b.header.Began() + load.Lasts
		run.Loads = append(run.Loads, load)
		fmt.Fprintln(b.out, "Starting main benchmark run...")
		b.startProfiler(ctx)
		b.announceTraffic()
	}
	var pulse *host.Pulse
	stopProgress, unhook, stopProbes := func() {}, func() bool { return true }, func(error) {}
	run.Started = func(epoch time.Time) {
		pulse = host.StartPulse()
		for _, b := range t.benches {
			b.tally.Reset()
			b.header.Epoch = epoch
			b.series.Begin(b.live)
			b.results.begin(b.streamed())
		}
		t.watch(epoch)
		stopProgress, unhook = t.showProgress(), context.AfterFunc(ctx, func() { t.tellDraining(ctx) })
		stopProbes = t.startProbes(ctx)
	}
	var ended time.Time
	run.Ended = func(at time.Time) { ended = at }
	cut := t.take(run.Records(ctx))
	unhook()
	if why, stopped := aborted(ctx); stopped && cut == nil {
		cut = exitError{why, exitNo}
	}
	if pulse == nil {
		return nil, interrupted(ctx, cut)
	}
	took := ended.Sub(t.benches[0].header.Epoch)
	var seen metrics.Evidence
	pulse.Stop(&seen)
	t.unwatch()
	stopProgress()
	stopProbes(cut)
	return t.summaries(ctx, cut, took, seen)
}

// begin makes ready what the trial's numbers of b go into.
func (b *bench) begin(ctx context.Context, t *trial) error {
	b.header = &metrics.Header{
		Run: cmp.Or(b.runID(), newRunID()), Target: b.name, Group: t.group, Series: t.series, Solo: t.solo, Delay: b.Traffic.Delay, WarmUp: b.Traffic.WarmUp,
		StartAt: b.Shard.StartAt, Compact: b.Results.Record == compact, Sampled: b.Watch.any(),
		Version: buildVersion(), Definitions: b.Results.VLLMVersion.Definitions(), Flags: b.Flags, Config: b.Shard.part(b.config),
	}
	b.target.Name, b.live = b.name, new(engine.Live)
	b.collector = metrics.NewCollector(b.header)
	b.collector.KeepOutcomes, b.collector.KeepLastings = b.Results.SaveDetailed, b.Results.Save || b.Results.Append
	b.collector.KeepTrace, b.collector.MaxKept = b.keepsTrace(), maxKept
	b.witness = witness{counters: b.counters}
	b.witness.look(ctx)
	return b.openSamplers(ctx)
}

// ready opens the connections of all benches, shortly before the load begins.
func (t *trial) ready(ctx context.Context) error {
	t.awaitStart(ctx)
	group, ctx := errgroup.WithContext(ctx)
	for _, b := range t.benches {
		group.Go(func() error { return b.named(b.warm(ctx)) })
	}
	return group.Wait()
}

// cutShort says what cut the run short.
func (t *trial) cutShort(err error) error {
	if failed(err, metrics.Deadline) {
		return abortError(fmt.Sprintf("--deadline %s", t.benches[0].Limits.Deadline))
	}
	return fmt.Errorf("the run was cut short: %w", err)
}

// take records and collects what requests did. The error is what cut the run short.
func (t *trial) take(records iter.Seq2[*metrics.Record, error]) error {
	byRun := map[string]*bench{}
	for _, b := range t.benches {
		byRun[b.header.Run] = b
	}
	in := newIntake()
	defer in.close()
	for rec, err := range records {
		if err != nil {
			return exitError{t.cutShort(err), exitNo}
		}
		b := byRun[rec.Run]
		for _, said := range []*string{&rec.Error, &rec.Text, &rec.Finish} {
			*said = b.Server.Secrets.mask(*said)
		}
		b.results.write(rec)
		t.aborter.take(rec)
		in.do(func() { b.collect(rec) })
		t.drain(in.do)
	}
	return nil
}

// summaries sums up what each target did in a trial that took so long, with what
// was seen of this process meanwhile.
func (t *trial) summaries(ctx context.Context, cut error, took time.Duration, seen metrics.Evidence) (sums []*metrics.Summary, err error) {
	atOnce := 0
	for _, b := range t.benches {
		s := b.collector.Summary(b.took(took).Seconds())
		s.Interrupted = ctx.Err() != nil || cut != nil
		if why, stopped := errors.AsType[abortError](cut); stopped {
			s.StoppedBy = string(why)
		}
		s.Warnings = append(append(s.Warnings, b.Shard.late(b.header.Epoch)...), t.troubles(b)...)
		atOnce += s.Truth.PeakConcurrency
		sums = append(sums, s)
	}
	for i, b := range t.benches {
		s, evidence := sums[i], seen
		b.tally.Report(&evidence)
		evidence.Proxy, evidence.Vouched = b.transport.Proxy(b.Server.BaseURL), b.vouched()
		evidence.Unverified = b.Server.Insecure && strings.HasPrefix(b.Server.BaseURL, "https:")
		evidence.Beside = atOnce - s.Truth.PeakConcurrency
		evidence.WriteBlocked = b.results.blocked()
		s.Evidence, s.Age = &evidence, metrics.FromHistogram(b.tally.Ages())
		s.Probes = b.probes
		s.Warnings = append(append(s.Warnings, b.warmUp.warnings()...), b.unsent(s)...)
		b.witness.testify(context.WithoutCancel(ctx), s, b.witness.most(b.probesSent(), b.Shard.Of))
		if s.RateChanges, err = b.rateChanges(); err != nil {
			return nil, b.named(err)
		}
	}
	return sums, cut
}

// took is how long the measured load of b took in a trial that took so long: with
// several targets, its own part of it. What a warm-up still had in flight does not
// count.
func (b *bench) took(all time.Duration) time.Duration {
	switch {
	case b.last == 0:
	case b.name != "", b.Traffic.WarmUp > 0:
		all = min(all, max(b.last, b.lasts))
	}
	return max(0, all-b.header.Began())
}

// live counts what each load is doing.
func (t *trial) live() (all []*engine.Live) {
	for _, b := range t.benches {
		all = append(all, b.live)
	}
	return all
}

// tellDraining says what the end of ctx has begun: the first interrupt, or too many
// failures.
func (t *trial) tellDraining(ctx context.Context) {
	drain := t.benches[0].Limits.Drain
	if drain <= 0 {
		return
	}
	why, again := "interrupted", "; interrupt again to quit at once"
	if _, stopped := aborted(ctx); stopped {
		why, again = "too many requests failed", ""
	}
	aside(t.talk, "%s: %s in flight may take %s to end%s", why, count(int(together(t.live()).InFlight()), "request"), drain, again)
}
