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
	t, err := p.open(ctx, o)
	if err != nil {
		return nil, err
	}
	return t.source, nil
}

// Requests opens what the plan sends here, each conversation with the time at which it is
// due, in seconds from the start of the run. It asks as Dataset does.
func (p *Plan) Requests(ctx context.Context, o Observer) (dataset.Source, error) {
	t, err := p.open(ctx, o)
	if err != nil {
		return nil, err
	}
	due := func() (float64, bool) { return 0, true }
	stop := func() {}
	if !t.config.SelfTimed {
		offsets, err := t.arrivals().Offsets(t.n)
		if err != nil {
			return nil, err
		}
		due, stop = iter.Pull(offsets)
	}
	return func(yield func(*dataset.Conversation, error) bool) {
		defer stop()
		number := -1
		for c, err := range t.source {
			number++
			if err != nil {
				yield(nil, fmt.Errorf("dataset %s: %w", t.Workload.Dataset, err))
				return
			}
			at, ok := due()
			if c.Due != nil {
				at, ok = *c.Due, true
			}
			if !ok || t.Traffic.Duration > 0 && at >= t.Traffic.Duration.Seconds() {
				return
			}
			if !t.Shard.Has(number) {
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
func (p *Plan) open(ctx context.Context, o Observer) (*target, error) {
	if o == nil {
		o = Quiet{}
	}
	sized, err := p.complete().Sized()
	if err != nil {
		return nil, err
	}
	t := &target{Plan: sized, observer: o, config: sized.Config()}
	from := tokenizerSource{model: t.Server.Model, served: cmp.Or(t.Server.ServedName, t.Server.Model), say: t.say}
	if t.Server.Tokenizer == serverTokenizer {
		if err := t.connect(); err != nil {
			return nil, err
		}
		from.server = t.server
	}
	w, err := openWorkload(ctx, t.Plan, from)
	if err == nil {
		t.take(w)
	}
	return t, err
}

// ResetPrefixCache makes the server forget the prompts of earlier runs.
func (p *Plan) ResetPrefixCache(ctx context.Context) error {
	t := &target{Plan: p.complete(), observer: Quiet{}}
	t.config = t.Config()
	if err := t.connect(); err != nil {
		return err
	}
	defer t.connection.close()
	return t.server.ResetPrefixCache(ctx)
}
