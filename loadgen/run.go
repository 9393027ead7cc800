// Package loadgen is a run as a library: what servebench run does, without its flags, its texts and
// its exit codes.
//
// A Plan says what to send to which server, when, and what to watch during the load. Its zero
// values mean what they mean for vLLM's client. Only the lengths of prompts and outputs have no
// default: a server's URL and two lengths make a Plan. Plan.Run finds the model, opens the dataset,
// warms up, puts all targets on one clock, and sends, probes, samples, retries and aborts as the
// Plan says. It returns a metrics.Summary for each load test of each target. Summary.Trust says
// whether to believe the numbers.
//
// An Observer hears about the progress of a run. Embed Quiet to implement only some of its methods.
// Records go where Plan.Keep says, and to the Observer. Errors and remarks name a setting by its
// field, as Traffic.Duration, unless Program.Spelling says otherwise. Remedies of a verdict name
// flags of servebench run.
//
// A load test is a list of stages, each a type that owns what it needs and hands a value on: reach makes sure that the
// server answers, prepare opens what is sent, rehearse sends what comes before the clock starts, measure runs the load,
// and judge makes Summaries of it. The packages below have the parts: settings of a plan, workload, lineup, engine,
// api, wire, witness, watch/sources.
package loadgen

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"

	"github.com/servebench/servebench/loadgen/internal/pipe"
	"github.com/servebench/servebench/metrics"
)

// Run carries out the plan, with all its repeats. It returns a Summary for each load test of each
// target, in the order in which they were done. A failed request is no error. If a load was cut
// short, Run returns both Summaries and an error. Once ctx ends, it sends nothing more, and
// requests in flight have Limits.Drain to end. A nil Observer is Quiet.
//
// With more than one repeat, Run condenses Summaries after their repeat: see Summary.Condense. An
// error is a FailedError, ErrInterrupted, or says what is wrong with the plan.
func (p *Plan) Run(ctx context.Context, o Observer) ([]*metrics.Summary, error) {
	if o == nil {
		o = Quiet{}
	}
	r := &run{plan: p.complete(), observer: o, log: newIntervals(p.Keep.Intervals)}
	r.targets = r.plan.all()
	if err := r.check(); err != nil {
		return nil, err
	}
	defer r.serve()()
	if r.plan.Repeat > 1 {
		r.series = newRunID()
	}
	var err error
	for repeat := range r.plan.Repeat {
		first := len(r.done)
		err = r.once(ctx, repeat)
		if r.plan.Repeat > 1 {
			for _, s := range r.done[first:] {
				s.Condense()
			}
		}
		if err != nil || ctx.Err() != nil {
			break
		}
	}
	r.log.flush()
	return r.done, masked(err, r.targets...)
}

// all returns the plans of all targets.
func (p *Plan) all() []*Plan {
	if p.Targets == nil {
		return []*Plan{p}
	}
	return p.Targets
}

// A run is a Plan in progress.
type run struct {
	plan     *Plan
	targets  []*Plan // at least one
	observer Observer
	log      *intervals
	series   string // id of all repeats together; empty for a single repeat
	done     []*metrics.Summary
}

// once makes each load test once: each target alone, if the plan asks for that, and all together.
func (r *run) once(ctx context.Context, repeat int) (err error) {
	var group string
	if r.plan.Targets != nil {
		group = cmp.Or(r.plan.Shard.RunID, newRunID())
	}
	first := len(r.done)
	for _, members := range r.plan.Sequence(repeat) {
		if err = r.trial(ctx, group, members); err != nil || ctx.Err() != nil {
			break
		}
	}
	r.observer.Event(Event{Kind: RepeatDone, Plan: r.plan, Count: len(r.done) - first})
	return err
}

// trial makes one load test of some targets, and reports the results. The error says what prevented
// it.
func (r *run) trial(ctx context.Context, group string, members []Member) error {
	tr := &trial{occasion: occasion{group, r.series}, members: members, observer: r.observer, log: r.log}
	for i, p := range r.targets {
		if !slices.ContainsFunc(members, func(m Member) bool { return m.Index == i }) {
			tr.idle = append(tr.idle, p)
		}
	}
	for _, m := range members {
		r.lend(m.Plan)
	}
	defer tr.end(ctx)
	sums, err := tr.run(ctx)
	for i, s := range sums {
		tr.targets[i].numbers.recorder.end(s)
		r.done = append(r.done, s)
		r.observer.Done(tr.result(ctx, i, s))
	}
	return err
}

// check refuses targets that cannot be distinguished, and invalid settings.
func (r *run) check() error {
	for _, p := range r.targets {
		if err := p.check(); err != nil {
			return err
		}
	}
	taken := map[string]bool{}
	for _, p := range r.plan.Targets {
		if p.Target == "" || taken[p.Target] {
			return fmt.Errorf("target %q: each of several targets needs a different name", p.Target)
		}
		if p.Keep.Records != nil || p.Keep.Intervals != nil {
			return fmt.Errorf("target %s: records of several targets go where the whole plan keeps them", p.Target)
		}
		taken[p.Target] = true
	}
	return nil
}

// lend copies the settings of the whole run into a target's plan.
func (r *run) lend(p *Plan) {
	p.Shard, p.Abort, p.Selftest = r.plan.Shard, r.plan.Abort, r.plan.Selftest
	p.Limits.Deadline, p.Limits.Drain = r.plan.Limits.Deadline, r.plan.Limits.Drain
	p.Repeat, p.SoloFirst, p.Pairs = r.plan.Repeat, r.plan.SoloFirst, r.plan.Pairs
	if !p.Watch.OwnGPU {
		p.Watch.GPU, p.Watch.GPUs = r.plan.Watch.GPU, r.plan.Watch.GPUs
	}
	p.Keep.Records, p.Keep.Intervals, p.Keep.Detail = r.plan.Keep.Records, r.plan.Keep.Intervals, r.plan.Keep.Detail
}

// serve starts a server for each target's Handler, and makes the targets dial these servers until
// stop is called.
func (r *run) serve() (stop func()) {
	var stops []func()
	for i, target := range r.targets {
		if s := &target.Server; s.Handler != nil {
			s.BaseURL = "http://handler"
			if i > 0 { // each on its own server
				s.BaseURL += fmt.Sprintf("-%d", i+1)
			}
			listener := pipe.Listen()
			s.Dial = listener.Dial
			stops = append(stops, serveAt(listener, s.Handler))
		}
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// serveAt serves a handler until stop is called. stop waits for its end.
func serveAt(listener net.Listener, handler http.Handler) (stop func()) {
	web := &http.Server{Handler: handler}
	done := make(chan struct{})
	go func() {
		defer close(done)
		web.Serve(listener)
	}()
	return func() {
		web.Close()
		<-done
	}
}
