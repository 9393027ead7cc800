package loadgen

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/loadgen/watch"
	"github.com/servebench/servebench/loadgen/watch/sources"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
)

// measure is the fourth stage of a load test: it runs the loads of all targets on one clock.
type measure struct {
	targets []*measurement // at least one
	idle    []*Plan        // the targets of the run that get no load
	gpus    *sources.GPUs
	aborter aborter
}

// measured is what a load test has shown.
type measured struct {
	*measure
	cut         error // what cut the load short; nil for nothing
	interrupted bool
	took        time.Duration
	seen        *evidence.Evidence // of this process during the load; nil for nothing
}

// run runs the load. If it is stopped, or an error cuts it short, measured says so. There is an error if nothing
// was sent.
func (s *measure) run(ctx context.Context) (*measured, error) {
	first := s.targets[0]
	run := engine.Run{Drain: first.plan.Limits.Drain, Deadline: first.plan.Limits.Deadline, Ready: s.ready,
		StartAt: first.plan.Shard.Start()}
	if s.inMemory() {
		run.Wait = engine.Sleep
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s.aborter = aborter{AbortRule: first.plan.Abort, named: first.plan.Program.Spell(naming.Abort), stop: stop}
	for _, m := range s.targets {
		load, err := m.prime(ctx)
		if err != nil {
			return nil, interrupted(ctx, m.named(err))
		}
		run.Loads = append(run.Loads, load)
	}
	var during watching
	run.Started = func(epoch time.Time) { during = s.start(ctx, epoch) }
	var ended time.Time
	run.Ended = func(at time.Time) { ended = at }
	cut := s.take(run.Records(ctx))
	if during.untell != nil {
		during.untell()
	}
	if why, stopped := aborted(ctx); stopped && cut == nil {
		cut = &FailedError{why}
	}
	if first.header.Epoch.IsZero() {
		return nil, interrupted(ctx, cut)
	}
	took := ended.Sub(first.header.Epoch)
	seen := during.seen()
	during.lastProbe()
	s.unwatch()
	during.over()
	during.stopProbes(cut)
	return &measured{s, cut, ctx.Err() != nil || cut != nil, took, seen}, nil
}

// watching is what happens during a load apart from its requests, and how to end it.
type watching struct {
	untell     func()
	seen       func() *evidence.Evidence
	over       func()
	lastProbe  func()
	stopProbes func(cut error)
}

// start begins everything that happens during the load, at the start of its clock.
func (s *measure) start(ctx context.Context, epoch time.Time) (w watching) {
	w.seen = func() *evidence.Evidence { return nil }
	if !s.inMemory() {
		w.seen = s.watchProcess()
	}
	for _, m := range s.targets {
		m.start(epoch)
	}
	s.watch(epoch)
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		s.tellDraining(ctx)
	})
	w.untell = func() {
		if !stop() {
			<-told
		}
	}
	w.over = s.targets[0].observer.Loading(s.loading())
	w.lastProbe, w.stopProbes = s.startProbes(ctx)
	return w
}

// inMemory reports whether a target is a Handler. Then the server is a part of this process, so
// measurements of the process say nothing about the load, and a test may control time.
func (s *measure) inMemory() bool {
	for _, m := range s.targets {
		if m.plan.Server.Handler != nil {
			return true
		}
	}
	return false
}

// watchProcess watches this process until seen is called, which returns the evidence.
func (s *measure) watchProcess() (seen func() *evidence.Evidence) {
	var servers []int
	for _, m := range s.targets {
		servers = append(servers, m.process.PID())
	}
	pulse := host.StartPulse(servers...)
	return func() *evidence.Evidence {
		var e evidence.Evidence
		pulse.Stop(&e)
		return &e
	}
}

// loading describes the load for the observer.
func (s *measure) loading() Loading {
	header := s.targets[0].header
	l := Loading{Epoch: header.Epoch, Began: header.Began()}
	for _, m := range s.targets {
		l.Began = min(l.Began, m.header.Began())
		l.Total += m.share()
		if lasts := m.plan.Traffic.Duration; lasts > 0 {
			l.Until = max(l.Until, m.header.Began()+lasts)
		}
		l.Loads = append(l.Loads, LoadingTarget{m.plan.Target, m.header.Run, m.share(), m.live})
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
func (s *measure) ready(ctx context.Context, soon []int) error {
	first := s.targets[0]
	start := first.plan.Shard.Start()
	if left := time.Until(start); !start.IsZero() && left > 0 {
		first.observer.Remark("", fmt.Sprintf("ready: the load begins at %s, in %.1f s",
			start.Format(time.RFC3339Nano), left.Seconds()))
		n := 0
		for i, m := range s.targets {
			if m.plan.Traffic.Warm {
				n += m.warmable(soon[i])
			}
		}
		engine.Sleep(ctx, start.Add(-warmLead-time.Duration(n)*time.Second/warmRate))
	}
	group, ctx := errgroup.WithContext(ctx)
	for i, m := range s.targets {
		group.Go(func() error { return m.named(m.warm(ctx, soon[i])) })
	}
	return group.Wait()
}

// take records and collects the requests. The error says what cut the run short.
func (s *measure) take(records iter.Seq2[*record.Record, error]) error {
	byRun := map[string]*measurement{}
	for _, m := range s.targets {
		byRun[m.header.Run] = m
	}
	in := newIntake()
	defer in.close()
	for rec, err := range records {
		if err != nil {
			return &FailedError{s.cutShort(err)}
		}
		m := byRun[rec.Run]
		secrets := &m.plan.Server.Secrets
		rec.Result.Error = secrets.Mask(rec.Result.Error)
		a := &rec.Answer
		a.Text, a.Finish = secrets.MaskWhole(a.Text), secrets.MaskWhole(a.Finish)
		m.numbers.recorder.write(rec)
		s.aborter.take(rec)
		in.do(func() { m.numbers.collect(rec) })
		s.drain(in.do)
	}
	return nil
}

// cutShort says what cut the run short.
func (s *measure) cutShort(err error) error {
	if failed(err, record.Deadline) {
		plan := s.targets[0].plan
		return AbortError(fmt.Sprintf("%s %s", plan.Program.Spell(naming.Deadline), plan.Limits.Deadline))
	}
	return fmt.Errorf("the run was cut short: %w", err)
}

// tellDraining reports what happens after the end of ctx: the first interrupt, or too many
// failures.
func (s *measure) tellDraining(ctx context.Context) {
	first := s.targets[0]
	limit := first.plan.Limits.Drain
	if limit <= 0 {
		return
	}
	var c engine.Count
	for _, m := range s.targets {
		c = c.Plus(m.live.Now())
	}
	_, stopped := aborted(ctx)
	first.observer.Draining(Draining{int(c.InFlight()), limit, stopped})
}

// watch begins to sample.
func (s *measure) watch(epoch time.Time) {
	var servers []int
	mps := false
	for _, m := range s.targets {
		servers = append(servers, m.process.PID())
		mps = mps || m.process.UnderMPS()
	}
	for _, p := range s.idle { // their servers hold memory of GPUs, too
		if found, known := (&sources.Process{Target: watchedOf(p)}).Listener(); known {
			servers = append(servers, found.PID)
		}
	}
	s.gpus.Start(epoch, servers, mps)
	for _, m := range s.targets {
		m.watch(epoch)
	}
}

// drain records and collects the samples so far.
func (s *measure) drain(do func(func())) {
	for _, sample := range s.gpus.Shared.Drain() {
		for _, m := range s.targets {
			if !m.plan.Watch.OwnGPU {
				m.numbers.sample(sample, do)
			}
		}
	}
	for _, m := range s.targets {
		for _, sample := range m.watches.Drain() {
			m.numbers.sample(sample, do)
		}
	}
}

// unwatch ends the sampling.
func (s *measure) unwatch() {
	sets := []*watch.Set{&s.gpus.Shared}
	for _, m := range s.targets {
		m.silence()
		sets = append(sets, m.watches)
	}
	watch.Stop(sets...)
	s.drain(func(collect func()) { collect() })
}

// stoppedBy is the rule that stopped the load, empty if none did.
func (m *measured) stoppedBy() string {
	why, _ := errors.AsType[AbortError](m.cut)
	return string(why)
}
