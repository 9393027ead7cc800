package loadgen

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/openai"
)

// A workload is an opened dataset, and the tokenizer that measured it.
type workload struct {
	tokenizer     tokenizer.Tokenizer // nil without one
	tokenizerName string
	remote        *openai.ServerTokenizer // the tokenizer, if it is the server's
	ids           bool                    // prompts are sent as token ids
	source        dataset.Source
	n             int                 // conversations in source; math.MaxInt where it does not end
	numpy         *nprand.RandomState // where the dataset left it, nil if it did not touch it
}

// openWorkload opens what o asks for.
func openWorkload(ctx context.Context, p *Plan, from tokenizerSource) (*workload, error) {
	w := new(workload)
	if err := w.openTokenizer(ctx, p, from); err != nil {
		return nil, err
	}
	if err := w.open(p, from); err != nil {
		return nil, fmt.Errorf("dataset %s: %w", p.Workload.Dataset, err)
	}
	w.extend(p, from)
	return w, nil
}

// open opens the dataset, once there is a tokenizer.
func (w *workload) open(p *Plan, from tokenizerSource) error {
	d, err := w.dataset(p, from)
	if err != nil {
		return err
	}
	if w.source, w.n, err = d.Open(); err == nil {
		err = w.leaveForArrivals(p, from)
	}
	if w.remote != nil {
		err = errors.Join(err, w.remote.Err())
	}
	if err != nil {
		return err
	}
	if w.ids && !makesIDs(p.Workload.Dataset) {
		w.source = dataset.TokenIDs(w.source, w.tokenizer)
	}
	if HasOwnTimes(p.Workload.Dataset) && !p.Workload.SelfTimed {
		w.source = dataset.Untimed(w.source)
	}
	if w.remote != nil {
		w.source = believe(w.source, w.remote)
	}
	return nil
}

// leaveForArrivals leaves numpy's generator where the dataset by the seed of the
// arrivals does, should the prompts have another: alone, a target gets prompts of
// its own at the times at which it gets those among others.
func (w *workload) leaveForArrivals(p *Plan, from tokenizerSource) error {
	if w.numpy == nil || p.Traffic.Seed == nil {
		return nil
	}
	asked, twin := *p, *w
	asked.Workload.Seed = *p.Traffic.Seed
	from.say = func(string, ...any) {}
	d, err := twin.dataset(&asked, from)
	if err == nil {
		_, _, err = d.Open()
	}
	w.numpy = twin.numpy
	return err
}

// makesIDs says whether a dataset makes token ids rather than text, and so needs
// no tokenizer.
func makesIDs(name string) bool {
	return name == "random" || name == "prefix_repetition" || name == "burstgpt" || name == "timed_trace"
}

// HasOwnTimes says whether a dataset says when its requests are sent.
func HasOwnTimes(dataset string) bool { return dataset == "timed_trace" || dataset == "file" }

const (
	// roundSeeds lie between the seeds of two rounds of a dataset. Repeats and
	// targets take seeds that follow one another, at most a few for each of a million
	// repeats, so that rounds which followed one another, too, would soon send
	// again what another one's had.
	roundSeeds = 1_000_003

	// warmUpSeeds are how far off a warm-up begins.
	warmUpSeeds = 1 << 31
)

// extend has the workload begin again, with other seeds, where the load takes more
// prompts than it has.
func (w *workload) extend(p *Plan, from tokenizerSource) {
	want := p.Workload.NumPrompts
	if p.Endless() {
		want = math.MaxInt
	}
	if !p.Timed() || w.n >= want {
		return
	}
	if !makesIDs(p.Workload.Dataset) {
		from.say("the %s dataset has %s: should the load take more, they are sent again", p.Workload.Dataset, count(w.n, "prompt"))
	}
	from.say = func(string, ...any) {} // all is said once
	first, rest := w.source, w.again(p, from, p.Workload.Seed+roundSeeds)
	w.n = want
	w.source = func(yield func(*dataset.Conversation, error) bool) {
		n := 0
		for _, source := range []dataset.Source{first, rest} {
			for c, err := range source {
				if n++; !yield(c, err) || n == want {
					return
				}
			}
		}
	}
}

// again opens the workload's dataset again and again, with seeds from that one on,
// when the prompts of the round before are used up. It does not end.
func (w *workload) again(p *Plan, from tokenizerSource, seed int64) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		for seed := seed; ; seed += roundSeeds {
			round := *p
			round.Workload.Seed = seed % seedCircle
			opened := &workload{tokenizer: w.tokenizer, tokenizerName: w.tokenizerName, remote: w.remote, ids: w.ids}
			err := opened.open(&round, from)
			if err == nil && opened.n == 0 {
				err = errors.New("there is nothing to send")
			}
			if err != nil {
				yield(nil, fmt.Errorf("opening it again: %w", err))
				return
			}
			for c, err := range opened.source {
				if err == nil && c.ID != "" {
					marked := *c
					marked.ID += "-" + strconv.FormatInt(round.Workload.Seed, 10)
					c = &marked
				}
				if !yield(c, err) {
					return
				}
			}
		}
	}
}
