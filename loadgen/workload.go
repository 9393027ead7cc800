package loadgen

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/loadgen/openai"
)

// A workload is an opened dataset, and the tokenizer that measured it.
type workload struct {
	plan          *Plan               // whose it is: without the dataset's times, if it has none
	tokenizer     tokenizer.Tokenizer // nil without a tokenizer
	tokenizerName string
	remote        *openai.ServerTokenizer // the tokenizer, if it is the server's
	ids           bool                    // prompts are sent as token ids
	source        dataset.Source
	n             int                 // conversations in source; math.MaxInt if it does not end
	numpy         *nprand.RandomState // its state after the dataset, nil if the dataset did not use it
	python        *nprand.Python      // its state after the dataset, nil without adapters
}

// openWorkload opens the workload of p.
func openWorkload(ctx context.Context, p *Plan, from tokenizerSource) (*workload, error) {
	w := new(workload)
	if err := p.checkMemory(host.FreeMemory()); err != nil {
		return nil, err
	}
	if err := w.openTokenizer(ctx, p, from); err != nil {
		return nil, err
	}
	if err := w.open(p, from); err != nil {
		return nil, fmt.Errorf("dataset %s: %w", p.Workload.Dataset, err)
	}
	untimed, err := w.untimed(p)
	if err != nil {
		return nil, err
	}
	if w.plan = p; untimed {
		w.plan = p.untimed()
	}
	w.extend(w.plan, from)
	w.source = w.plan.Workload.Adapters.Assign(w.source, w.python)
	return w, nil
}

// arrivals are the times at which requests are due. They continue with numpy's generator where the dataset left it.
func (w *workload) arrivals() arrivals.Process {
	a := w.plan.arrivals()
	a.Start = w.numpy
	return a
}

// open opens the dataset. The tokenizer must be open.
func (w *workload) open(p *Plan, from tokenizerSource) error {
	d, run, err := w.dataset(p, from)
	if err != nil {
		return err
	}
	if w.source, w.n, err = d.Open(); err == nil {
		w.numpy = run.Options.NumPy
		err = w.leaveForArrivals(p, from)
	}
	if w.remote != nil {
		err = errors.Join(err, w.remote.Err())
	}
	if err != nil {
		return err
	}
	if err := w.retime(p, from); err != nil {
		return err
	}
	if w.ids && !p.Workload.Has(kinds.MakesIDs) {
		w.source = dataset.TokenIDs(w.source, w.tokenizer)
	}
	if p.Workload.Has(kinds.OwnTimes) && !p.Workload.SelfTimed {
		w.source = dataset.Untimed(w.source)
	}
	if w.remote != nil {
		w.source = checked(w.source, w.remote)
	}
	if p.Server.messages() {
		w.source = request.Spelled(w.source)
	}
	return nil
}

// leaveForArrivals restores the states of numpy's and Python's generators that the arrivals' seed
// would have produced, if the prompts have a different seed. So a solo run uses the same arrival
// times and the same adapters with different prompts.
func (w *workload) leaveForArrivals(p *Plan, from tokenizerSource) error {
	if w.numpy == nil && w.python == nil || p.Traffic.Seed == nil {
		return nil
	}
	asked, twin := *p, *w
	asked.Workload.Seed = *p.Traffic.Seed
	from.say = func(string, ...any) {}
	d, run, err := twin.dataset(&asked, from)
	if err == nil {
		_, _, err = d.Open()
		w.numpy = run.Options.NumPy
	}
	w.python = twin.python
	return err
}

const (
	// roundSeeds is the distance between the seeds of two rounds of a dataset. Repeats and targets
	// use consecutive seeds, at most a few for each of a million repeats. If rounds also used
	// consecutive seeds, they would soon repeat each other's prompts.
	roundSeeds = 1_000_003

	// warmUpSeeds is the distance of a warm-up's seeds.
	warmUpSeeds = 1 << 31
)

// extend makes the workload begin again, with other seeds, if the load takes more prompts than it
// has.
func (w *workload) extend(p *Plan, from tokenizerSource) {
	want := p.Workload.NumPrompts
	if p.Endless() {
		want = math.MaxInt
	}
	if !p.Timed() || w.n >= want {
		return
	}
	if !p.Workload.Has(kinds.MakesIDs) && !p.Workload.Has(kinds.Fileless) {
		from.say("the %s dataset has %s: if the load needs more, they are sent again", p.Workload.Dataset,
			count(w.n, p.Workload.noun()))
	}
	from.say = func(string, ...any) {} // the first round has reported everything
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

// again opens the workload's dataset again and again, with seeds from that one on, whenever the
// prompts of a round are used up. It does not end.
func (w *workload) again(p *Plan, from tokenizerSource, seed int64) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		for seed := seed; ; seed += roundSeeds {
			round := *p
			round.Workload.Seed = seed % seedCircle
			opened := &workload{tokenizer: w.tokenizer, tokenizerName: w.tokenizerName, remote: w.remote, ids: w.ids}
			err := opened.open(&round, from)
			if err == nil && opened.n == 0 {
				err = errors.New("it has no prompts")
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
