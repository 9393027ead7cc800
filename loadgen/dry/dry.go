// Package dry makes the runs of a plan on simulated servers, in time that does not pass.
//
// The engine of the simulator is stepped as in a server, and the load is the plan's, so an hour of load
// takes seconds. Sending takes no time, no client is measured, and no run has a verdict. The metadata of
// each run says that it was simulated.
package dry

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/stream"
)

// Servers are simulated servers by the ports of their URLs.
type Servers map[string]sim.Config

// Of are servers of one configuration at those ports. If they are several, they share a GPU, as in
// sim.Several. Each may use the SMs listed for it; nil for what the configuration says.
func Of(cfg sim.Config, ports []int, sms []float64) Servers {
	all := Servers{}
	if len(ports) > 1 {
		cfg.Device.GPU = new(speed.GPU)
	}
	for i, port := range ports {
		if sms != nil {
			cfg.Device.SMs = sms[i]
		}
		all[strconv.Itoa(port)] = cfg
		cfg.Seed++
	}
	return all
}

// Run makes the load tests of a plan: each target alone and each pair of them, if the plan asks for that, and all
// together.
// Records go where the plan keeps them. It returns a Summary for each load test of each target. It is
// an error if a target is on no simulated server, or if its load cannot be simulated.
func Run(ctx context.Context, p *loadgen.Plan, servers Servers) (all []*metrics.Summary, err error) {
	group := ""
	if p.Targets != nil {
		group = rand.Text()
	}
	for _, members := range p.Sequence(0) {
		t := &trial{plan: p, targets: members, group: group}
		sums, err := t.run(ctx, servers)
		if err != nil {
			return nil, err
		}
		all = append(all, sums...)
	}
	return all, nil
}

// A trial is one load test.
type trial struct {
	plan    *loadgen.Plan
	targets []loadgen.Member
	group   string

	headers []*metrics.Header
	loads   []sim.DryLoad
}

func (t *trial) run(ctx context.Context, servers Servers) ([]*metrics.Summary, error) {
	for _, target := range t.targets {
		if err := t.add(ctx, target, servers); err != nil {
			return nil, err
		}
	}
	var collectors []*metrics.Collector
	var streams []*stream.Writer
	keep := t.plan.Keep.Records
	write := func(do func() error) {
		if keep != nil {
			keep.Try(do)
		}
	}
	for _, h := range t.headers {
		c := aspect.Collector(h)
		c.Keep.Trace = t.plan.Keep.Requests || h.Target != ""
		collectors = append(collectors, c)
		w := stream.NewWriter(keep)
		write(func() error { return errors.Join(keep.Begin(), w.Begin(h)) })
		streams = append(streams, w)
	}
	ends := make([]time.Duration, len(t.targets))
	for r, err := range sim.Together(t.loads) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		rec := recordOf(&r, t.headers[r.Load])
		ends[r.Load] = max(ends[r.Load], rec.Times.End)
		collectors[r.Load].Add(rec)
		write(func() error { return streams[r.Load].Write(rec) })
	}
	var sums []*metrics.Summary
	for i, c := range collectors {
		s := c.Summary((ends[i] - t.headers[i].Delay).Seconds())
		write(func() error { return streams[i].End(s) })
		sums = append(sums, s)
	}
	return sums, nil
}

// add prepares the load of a target.
func (t *trial) add(ctx context.Context, target loadgen.Member, servers Servers) error {
	u, err := url.Parse(target.Plan.Server.BaseURL)
	if err != nil {
		return err
	}
	cfg, ok := servers[u.Port()]
	traffic, w := &target.Plan.Traffic, &target.Plan.Workload
	switch {
	case !ok:
		return fmt.Errorf("%s: no simulated server of the arm listens there", target.Plan.Server.BaseURL)
	case traffic.Endless(w) || traffic.WarmUp > 0 || w.Has(kinds.SeveralTurns) || target.Plan.Server.Pooling():
		return errors.New("a load that is bounded by time, has a warm-up, sessions of several turns or no generated text " +
			"is not simulated: run it on servebench sim")
	}
	alone := *target.Plan
	alone.Server.Model = cmp.Or(alone.Server.Model, cfg.Model)
	alone.Server.Tokenizer = cmp.Or(alone.Server.Tokenizer, alone.Server.Model)
	alone.Report.Metadata = append(slices.Clone(alone.Report.Metadata),
		metrics.KV{Key: metrics.SimulatedKey, Value: "true"})
	source, err := alone.Requests(ctx, nil)
	if err != nil {
		return err
	}
	bounds := sim.Bounds{Early: !alone.Sampling.IgnoreEOS, Chunks: true}
	if limit := alone.Traffic.MaxConcurrency; limit != nil {
		bounds.Concurrency = *limit
	}
	t.loads = append(t.loads, sim.DryLoad{Config: cfg, Source: delayed(source, alone.Traffic.Delay), Bounds: bounds})
	t.headers = append(t.headers, &metrics.Header{
		Run: rand.Text(), Target: alone.Target, Group: t.group, Solo: target.Solo, With: target.With,
		Delay: alone.Traffic.Delay, Epoch: time.Now(),
		Version: t.plan.Program.Version, Commit: t.plan.Program.Commit, Flags: alone.Flags,
		Definitions: alone.Report.Definitions,
		Config:      alone.Config(), Server: alone.Server.Start,
	})
	return nil
}

// delayed makes everything due later.
func delayed(source dataset.Source, by time.Duration) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		for c, err := range source {
			if c != nil && c.Due != nil {
				later := *c
				at := *c.Due + by.Seconds()
				later.Due = &at
				c = &later
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// recordOf is what a request of a dry run did.
func recordOf(r *sim.SimulatedRequest, h *metrics.Header) *record.Record {
	rec := &record.Record{
		Run: h.Run, Target: h.Target, Index: r.Session, Attempts: 1,
		Times: record.Times{Due: r.Due, Slot: r.Sent, Sent: r.Sent, Wrote: r.Sent,
			FirstByte: r.First, FirstContent: r.First, Last: r.End, LastByte: r.End, End: r.End},
		Tokens: record.Tokens{In: r.Prompt, Out: r.Out},
		Result: record.Result{Status: 200},
	}
	if r.Refused {
		rec.Result.Class, rec.Result.Status, rec.Result.Error, rec.Tokens.Out = record.Overflow, 400,
			"the prompt and its answer are too long for the model", 0
		return rec
	}
	for _, c := range r.Chunks {
		rec.Answer.Chunks.Append(c.At)
	}
	return rec
}
