package loadgen

import (
	"context"
	"fmt"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/dataset/reuse"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/loadgen/workload"
	"github.com/servebench/servebench/metrics"
)

// prepare is the second stage of a load test: it opens tokenizer and dataset, and makes sure that what they
// give can be sent. It sends nothing that counts.
type prepare struct {
	voice
	server *contact
}

// A prepared target has everything that its load sends.
type prepared struct {
	voice    // of its plan, which has no times of the dataset if the dataset has none
	server   *contact
	workload *workload.Opened
	warmUp   dataset.Source // nil without a warm-up
	config   metrics.Config // of the whole run if it has shards
	to       engine.Target
}

// run returns the prepared target.
func (p *prepare) run(ctx context.Context) (*prepared, error) {
	t := &prepared{voice: p.voice, server: p.server}
	if err := p.unlessStopped(ctx, t.open); err != nil {
		return nil, err
	}
	if t.plan.Server.Handler == nil {
		if err := t.server.transport.CheckSockets(t.atOnce()); err != nil {
			return nil, t.plan.Program.SpellError(err) // before what may take long
		}
	}
	t.to = engineTarget(t.plan, t.server, t.workload)
	if err := p.unlessStopped(ctx, t.align); err != nil {
		return nil, err
	}
	t.event(Event{Kind: Prepared})
	return t, nil
}

// unlessStopped runs a part of the preparation that may be long and cannot be canceled, such as
// counting the tokens of a dataset. If ctx ends, it returns; the goroutine ends later and its
// result is dropped.
func (p *prepare) unlessStopped(ctx context.Context, do func(context.Context, voice) error) error {
	gate := &gate{Observer: p.observer}
	done := make(chan error, 1)
	go func() { done <- do(ctx, voice{gate, p.plan}) }()
	slow := time.NewTimer(2 * time.Second)
	defer slow.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			gate.shut()
			return ctx.Err()
		case <-slow.C:
			p.say("preparing the %s dataset...", p.plan.Workload.Dataset)
		}
	}
}

// open opens the workload.
func (t *prepared) open(ctx context.Context, v voice) (err error) {
	from := workload.Origin{Model: t.server.model, Served: t.server.served, Server: t.server.calls, Say: v.say}
	if t.workload, err = workload.Open(ctx, t.plan.spec(), from); err != nil {
		return err
	}
	if t.plan.Workload.SelfTimed && !t.workload.Spec.Workload.SelfTimed {
		untimed := *t.plan
		untimed.Workload, untimed.Traffic = t.workload.Spec.Workload, t.workload.Spec.Traffic
		t.plan = &untimed
	}
	if n, shards := t.workload.N, t.plan.Shard.Of; n < shards {
		return fmt.Errorf("%s: there are %s for %d shards: each needs one", t.plan.Program.Argument(naming.NumPrompts),
			metrics.Counted(n, t.plan.Workload.Noun()), shards)
	}
	t.config = t.plan.Config()
	t.config.Model, t.config.Tokenizer = t.server.model, t.workload.TokenizerName
	if err := t.fitting(); err != nil {
		return err
	}
	t.openWarmUp(from)
	return nil
}

// fitting looks for a turn of a file that the API cannot take. Prompts that are made are alike, so the
// first of them, which is encoded before the load, speaks for all.
func (t *prepared) fitting() error {
	api, w := t.plan.Server.API(), &t.plan.Workload
	if !api.Picky() || w.Source != nil || w.Has(kinds.Fileless) || t.plan.Traffic.Endless(&t.plan.Workload) {
		return nil
	}
	seen := 0
	for c, err := range t.workload.Source {
		if err != nil {
			return fmt.Errorf("dataset %s: %w", w.Dataset, err)
		}
		for i := range c.Turns {
			if err := api.Fits(&c.Turns[i]); err != nil {
				return fmt.Errorf("dataset %s: %s %d: %w", w.Dataset, w.Noun(), seen+1, t.plan.Program.SpellError(err))
			}
		}
		seen++
	}
	return nil
}

// share is how many conversations this process sends at most.
func (t *prepared) share() int { return t.plan.Shard.Share(t.workload.N) }

// concurrency is how many requests this process may have in flight; 0 for no limit.
func (t *prepared) concurrency() int { return t.plan.Shard.ShareOf(t.plan.Traffic.MaxConcurrency) }

// sessionSlots is how many sessions this process may have begun and not ended; 0 for no limit.
func (t *prepared) sessionSlots() int { return t.plan.Shard.ShareOf(t.plan.Traffic.MaxSessions) }

// atOnce is about how many requests can be in flight together, if the plan bounds that: all of them
// at an infinite rate. A warm-up has no bound. Sub-agents may make more.
func (t *prepared) atOnce() int {
	limit, sessions := t.concurrency(), t.sessionSlots()
	switch {
	case limit == 0:
		limit = sessions
	case sessions > 0:
		limit = min(limit, sessions)
	}
	switch {
	case t.plan.Traffic.WarmUp > 0:
		return limit
	case limit > 0:
		return min(t.share(), limit)
	case t.plan.Traffic.AtOnce(&t.plan.Workload):
		return t.share()
	}
	return 0
}

// first is the dataset's first conversation.
func (t *prepared) first() (*dataset.Conversation, error) {
	for c, err := range t.workload.Source {
		if err != nil {
			return nil, fmt.Errorf("dataset %s: %w", t.plan.Workload.Dataset, err)
		}
		return c, nil
	}
	return nil, fmt.Errorf("dataset %s: it has no prompts", t.plan.Workload.Dataset)
}

// reuse returns what tells how many tokens of prompts a prefix cache would have; nil if sessions have
// one turn and prompts of no blocks.
func (t *prepared) reuse() func(*dataset.Conversation, int) int {
	d := &t.plan.Workload
	several := d.Noun() == "session"
	if d.Has(kinds.Printed) {
		for c := range t.workload.Source {
			several = c != nil && (len(c.Turns) > 1 || c.Mint != nil)
			break
		}
	}
	if !several {
		return nil
	}
	return (&reuse.Cache{Live: d.Live()}).Next
}
