package loadgen

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/servebench/servebench/dataset"
)

// Dataset opens what the plan sends, in order: the requests of all shards, without end if only the
// server's answers bound them. It talks to a server only if the plan takes the server's tokenizer.
func (p *Plan) Dataset(ctx context.Context, o Observer) (dataset.Source, error) {
	w, err := p.open(ctx, o)
	if err != nil {
		return nil, err
	}
	return w.source, nil
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
	if !w.plan.Workload.SelfTimed {
		offsets, err := w.arrivals().Offsets(w.n)
		if err != nil {
			return nil, err
		}
		due, stop = iter.Pull(offsets)
	}
	return func(yield func(*dataset.Conversation, error) bool) {
		defer stop()
		number := -1
		for c, err := range w.source {
			number++
			if err != nil {
				yield(nil, fmt.Errorf("dataset %s: %w", w.plan.Workload.Dataset, err))
				return
			}
			at, ok := due()
			if c.Due != nil {
				at, ok = *c.Due, true
			}
			if !ok || w.plan.Traffic.Duration > 0 && at >= w.plan.Traffic.Duration.Seconds() {
				return
			}
			if !w.plan.Shard.Has(number) {
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
func (p *Plan) open(ctx context.Context, o Observer) (*workload, error) {
	if o == nil {
		o = Quiet{}
	}
	sized, err := p.complete().Sized()
	if err != nil {
		return nil, err
	}
	s := &sized.Server
	from := tokenizerSource{model: s.Model, served: cmp.Or(s.ServedName, s.Model), say: voice{o, sized}.say}
	if s.Tokenizer == serverTokenizer {
		c, err := connect(sized)
		if err != nil {
			return nil, err
		}
		from.server = c.calls
	}
	return openWorkload(ctx, sized, from)
}

// ResetPrefixCache makes the server forget the prompts of earlier runs.
func (p *Plan) ResetPrefixCache(ctx context.Context) error {
	c, err := connect(p.complete())
	if err != nil {
		return err
	}
	defer c.close()
	return c.calls.ResetPrefixCache(ctx)
}
