package loadgen

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/workload"
)

// Dataset opens what the plan sends, in order: the requests of all shards, without end if only the
// server's answers bound them. It talks to a server only if the plan takes the server's tokenizer.
func (p *Plan) Dataset(ctx context.Context, o Observer) (dataset.Source, error) {
	w, err := p.open(ctx, o)
	if err != nil {
		return nil, err
	}
	return w.Source, nil
}

// Requests opens what the plan sends here, each conversation with the time at which it is
// due, in seconds from the start of the run. It asks as Dataset does.
func (p *Plan) Requests(ctx context.Context, o Observer) (dataset.Source, error) {
	w, err := p.open(ctx, o)
	if err != nil {
		return nil, err
	}
	due := func() (float64, bool) { return 0, true }
	stop := func() {}
	if !w.Spec.Workload.SelfTimed {
		offsets, err := w.Arrivals().Offsets(w.N)
		if err != nil {
			return nil, err
		}
		due, stop = iter.Pull(offsets)
	}
	return func(yield func(*dataset.Conversation, error) bool) {
		defer stop()
		number := -1
		for c, err := range w.Source {
			number++
			if err != nil {
				yield(nil, fmt.Errorf("dataset %s: %w", w.Spec.Workload.Dataset, err))
				return
			}
			at, ok := due()
			if c.Due != nil {
				at, ok = *c.Due, true
			}
			if !ok || w.Spec.Traffic.Duration > 0 && at >= w.Spec.Traffic.Duration.Seconds() {
				return
			}
			if !p.Shard.Has(number) {
				continue
			}
			timed := *c
			timed.Due = &at
			if !yield(&timed, nil) {
				return
			}
		}
	}, nil
}

// open opens the workload of a plan without running the plan.
func (p *Plan) open(ctx context.Context, o Observer) (*workload.Opened, error) {
	if o == nil {
		o = Quiet{}
	}
	sized, err := p.complete().Sized()
	if err != nil {
		return nil, err
	}
	s := &sized.Server
	from := workload.Origin{Model: s.Model, Served: cmp.Or(s.ServedName, s.Model), Say: voice{o, sized}.say}
	if s.Tokenizer == workload.FromServer {
		c, err := connect(sized)
		if err != nil {
			return nil, masked(err, sized)
		}
		from.Server = c.calls
	}
	w, err := workload.Open(ctx, sized.spec(), from)
	return w, masked(err, sized)
}

// ResetPrefixCache makes the server forget the prompts of earlier runs.
func (p *Plan) ResetPrefixCache(ctx context.Context) error {
	p = p.complete()
	c, err := connect(p)
	if err != nil {
		return masked(err, p)
	}
	defer c.close()
	return masked(c.calls.ResetPrefixCache(ctx), p)
}

// spec is what decides the plan's requests.
func (p *Plan) spec() *workload.Spec {
	return &workload.Spec{
		Server: p.Server, Workload: p.Workload, Traffic: p.Traffic, IgnoreEOS: p.Sampling.IgnoreEOS,
		Spelling: p.Program.Spelling,
	}
}
