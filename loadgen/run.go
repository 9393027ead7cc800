package loadgen

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/servebench/servebench/loadgen/internal/pipe"
	"github.com/servebench/servebench/metrics"
)

// Run does what the plan says, as often as it says, and sums up each load test of each
// target, in the order in which they were done. That requests fail is no error. There may
// be both Summaries and an error where a load was cut short. Once ctx ends, nothing more
// is sent, and requests in flight have Limits.Drain to end. A nil Observer is Quiet.
//
// With more than one repeat, Summaries are condensed as Summary.Condense says once their
// repeat is done. An error is a FailedError, ErrInterrupted, or says what is wrong with
// the plan.
func (p *Plan) Run(ctx context.Context, o Observer) ([]*metrics.Summary, error) {
	if o == nil {
		o = Quiet{}
	}
	r := &run{Plan: p.complete(), observer: o, log: newIntervals(p.Keep.Intervals)}
	r.targets = r.all()
	if err := r.check(); err != nil {
		return nil, err
	}
	defer r.serve()()
	if r.Repeat > 1 {
		r.series = newRunID()
	}
	var err error
	for repeat := range r.Repeat {
		first := len(r.done)
		err = r.once(ctx, repeat)
		if r.Repeat > 1 {
			for _, s := range r.done[first:] {
				s.Condense()
			}
		}
		if err != nil || ctx.Err() != nil {
			break
		}
	}
	r.log.flush()
	return r.done, r.maskError(err)
}

// all are the plans of each target.
func (p *Plan) all() []*Plan {
	if p.Targets == nil {
		return []*Plan{p}
	}
	return p.Targets
}

// Trials is how many load tests of single targets a run comes to.
func (p *Plan) Trials() int {
	return max(p.Repeat, 1) * int(p.slots()) * max(len(p.Targets), 1)
}

// A run is a Plan that is being carried out.
type run struct {
	*Plan
	targets  []*Plan // at least one
	observer Observer
	log      *intervals
	series   string // id of all repeats together; empty where there is one
	done     []*metrics.Summary
}

// once makes each load test once, of every target alone, where that was asked for,
// and of all together.
func (r *run) once(ctx context.Context, repeat int) (err error) {
	var group string
	if r.Targets != nil {
		group = cmp.Or(r.Shard.RunID, newRunID())
	}
	first := len(r.done)
	for _, only := range r.order(repeat) {
		if err = r.trial(ctx, group, repeat, only); err != nil || ctx.Err() != nil {
			break
		}
	}
	r.observer.Step(Step{Kind: RepeatDone, Plan: r.Plan, Count: len(r.done) - first})
	return err
}

// order is that of the load tests, each of the target that is alone. In every second
// repeat it is the other way round: what drifts in the course of both slows down in one
// as much what it speeds up in the other.
func (r *run) order(repeat int) []int {
	var order []int
	if r.SoloFirst {
		for i := range r.targets {
			order = append(order, i)
		}
	}
	order = append(order, everyone)
	if (repeat%2 == 1) != r.Backward {
		slices.Reverse(order)
	}
	return order
}

// everyone stands for no single target.
const everyone = -1

// trial makes one load test of a target alone or of everyone, and tells what came
// of it. The error is what kept it from being done.
func (r *run) trial(ctx context.Context, group string, repeat, only int) error {
	tr := &trial{group: group, series: r.series, solo: only != everyone}
	for i := range r.targets {
		if tr.solo && i != only {
			continue
		}
		t := &target{Plan: r.seeded(i, repeat, tr.solo), observer: r.observer}
		r.lend(t.Plan)
		t.recorder = newRecorder(&t.Keep, r.log)
		tr.targets = append(tr.targets, t)
	}
	sums, err := tr.test(ctx)
	for i, s := range sums {
		t := tr.targets[i]
		t.recorder.end(s)
		r.done = append(r.done, s)
		r.observer.Done(t.result(ctx, s))
	}
	for _, t := range tr.targets {
		t.stopProfiler(ctx)
		if t.connection != nil {
			t.connection.close()
		}
	}
	return err
}

// check refuses targets that cannot be told apart, and settings that mean nothing.
func (r *run) check() error {
	for _, p := range r.targets {
		if err := p.check(); err != nil {
			return err
		}
	}
	taken := map[string]bool{}
	for _, p := range r.Targets {
		if p.Target == "" || taken[p.Target] {
			return fmt.Errorf("target %q: each of several targets needs a name of its own", p.Target)
		}
		if p.Keep.Records != nil || p.Keep.Intervals != nil {
			return fmt.Errorf("target %s: records of several targets go where the whole plan keeps them", p.Target)
		}
		taken[p.Target] = true
	}
	return nil
}

// lend gives a target's plan what is the whole run's to say.
func (r *run) lend(p *Plan) {
	p.Shard, p.Abort, p.Version, p.Vouched = r.Shard, r.Abort, r.Version, r.Vouched
	p.Limits.Deadline, p.Limits.Drain = r.Limits.Deadline, r.Limits.Drain
	p.Watch.GPU, p.Watch.GPUs = r.Watch.GPU, r.Watch.GPUs
	p.Keep.Records, p.Keep.Intervals, p.Keep.Detail = r.Keep.Records, r.Keep.Intervals, r.Keep.Detail
}

// result is what the target came to.
func (t *target) result(ctx context.Context, s *metrics.Summary) *Result {
	result := &Result{Summary: s, Plan: t.Plan, Requests: t.share(), TokenIDs: t.ids}
	if t.Endless() {
		result.Requests = -1
	}
	if s.Completed == 0 && s.Classes[metrics.Status] > 0 {
		result.Unlisted = t.unlisted(ctx)
	}
	return result
}

// serve serves the Handlers of the plan's targets, each by a server of its own, and has
// the targets dial those, until stop is called.
func (p *Plan) serve() (stop func()) {
	var stops []func()
	for i, target := range p.all() {
		if s := &target.Server; s.Handler != nil {
			s.BaseURL = "http://handler"
			if i > 0 { // each is a server of its own
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

// serveAt serves a handler until stop is called, which waits for its end.
func serveAt(listener *pipe.Listener, handler http.Handler) (stop func()) {
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

// inMemory says whether a target is a Handler. Then the server is a part of this process,
// so what the process does tells nothing of the load, and time may be a test's own.
func (tr *trial) inMemory() bool {
	return slices.ContainsFunc(tr.targets, func(t *target) bool { return t.Server.Handler != nil })
}
