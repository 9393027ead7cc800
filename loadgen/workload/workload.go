// Package workload opens what a load sends: the dataset that the settings name, with the tokenizer that measures
// it.
//
// Open looks for the tokenizer, opens the dataset with it, moves its times as the settings say, and lets it begin
// again if the load takes more prompts than it has. What it says meanwhile goes to Origin.Say.
package workload

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/retime"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/loadgen/settings"
	"github.com/servebench/servebench/metrics"
)

// A Spec says which dataset to open, and what the rest of a plan means for it. Its defaults are filled in. Spelling
// spells the settings that errors and remarks name.
type Spec struct {
	Server    settings.Server
	Workload  settings.Workload
	Traffic   settings.Traffic
	IgnoreEOS bool // of the requests' sampling
	Spelling  naming.Spelling
}

// endless reports whether the load takes as many prompts as the server can answer.
func (p *Spec) endless() bool { return p.Traffic.Endless(&p.Workload) }

// An Opened is an opened dataset, and the tokenizer that measured it. Read its Source more than once at will: it begins
// again, with the same conversations.
type Opened struct {
	Spec          *Spec               // what was asked for, without the dataset's times if it has none
	Tokenizer     tokenizer.Tokenizer // nil without a tokenizer
	TokenizerName string
	Remote        *openai.ServerTokenizer // the tokenizer, if it is the server's
	IDs           bool                    // prompts are sent as token ids
	Source        dataset.Source
	N             int                 // conversations in Source; math.MaxInt if it does not end
	numpy         *nprand.RandomState // its state after the dataset, nil if the dataset did not use it
	python        *nprand.Python      // its state after the dataset, nil without adapters
}

// Open opens what p says. It asks the server of the origin if it needs that server's tokenizer. Of a file, it reads
// what it needs to count the conversations.
func Open(ctx context.Context, p *Spec, from Origin) (*Opened, error) {
	w := new(Opened)
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
	if w.Spec = p; untimed {
		u := *p
		u.Workload.SelfTimed, u.Traffic.Counted = false, true
		w.Spec = &u
	}
	w.extend(w.Spec, from)
	w.Source = w.Spec.Workload.Adapters.Assign(w.Source, w.python)
	return w, nil
}

// Arrivals are the times at which requests are due. They continue with numpy's generator where the dataset left it.
func (w *Opened) Arrivals() arrivals.Process {
	a := w.Spec.Traffic.Arrivals(&w.Spec.Workload)
	a.Start = w.numpy
	return a
}

// open opens the dataset. The tokenizer must be open.
func (w *Opened) open(p *Spec, from Origin) error {
	d, run, err := w.dataset(p, from)
	if err != nil {
		return err
	}
	if w.Source, w.N, err = d.Open(); err == nil {
		w.numpy = run.Options.NumPy
		err = w.leaveForArrivals(p, from)
	}
	if w.Remote != nil {
		err = errors.Join(err, w.Remote.Err())
	}
	if err != nil {
		return err
	}
	if err := w.retime(p, from); err != nil {
		return err
	}
	if w.IDs && !p.Workload.Has(kinds.MakesIDs) {
		w.Source = dataset.TokenIDs(w.Source, w.Tokenizer)
	}
	if p.Workload.Has(kinds.OwnTimes) && !p.Workload.SelfTimed {
		w.Source = retime.Untimed(w.Source)
	}
	if w.Remote != nil {
		w.Source = checked(w.Source, w.Remote)
	}
	if p.Server.Messages() {
		w.Source = request.Spelled(w.Source)
	}
	return nil
}

// leaveForArrivals restores the states of numpy's and Python's generators that the arrivals' seed
// would have produced, if the prompts have a different seed. So a solo run uses the same arrival
// times and the same adapters with different prompts.
func (w *Opened) leaveForArrivals(p *Spec, from Origin) error {
	if w.numpy == nil && w.python == nil || p.Traffic.Seed == nil {
		return nil
	}
	asked, twin := *p, *w
	asked.Workload.Seed = *p.Traffic.Seed
	from.Say = func(string, ...any) {}
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

	// WarmUpSeeds is the distance of a warm-up's seeds.
	WarmUpSeeds = 1 << 31
)

// extend makes the workload begin again, with other seeds, if the load takes more prompts than it
// has.
func (w *Opened) extend(p *Spec, from Origin) {
	want := p.Workload.NumPrompts
	if p.endless() {
		want = math.MaxInt
	}
	if !p.Traffic.Timed(&p.Workload) || w.N >= want {
		return
	}
	if !p.Workload.Has(kinds.MakesIDs) && !p.Workload.Has(kinds.Fileless) {
		from.Say("the %s dataset has %s: if the load needs more, they are sent again", p.Workload.Dataset,
			metrics.Counted(w.N, p.Workload.Noun()))
	}
	from.Say = func(string, ...any) {} // the first round has reported everything
	first, rest := w.Source, w.Again(from, p.Workload.Seed+roundSeeds)
	w.N = want
	w.Source = func(yield func(*dataset.Conversation, error) bool) {
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

// Again opens the workload's dataset again and again, with seeds from that one on, whenever the
// prompts of a round are used up. It does not end.
func (w *Opened) Again(from Origin, seed int64) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		for seed := seed; ; seed += roundSeeds {
			round := *w.Spec
			round.Workload.Seed = seed % settings.Seeds
			opened := &Opened{Tokenizer: w.Tokenizer, TokenizerName: w.TokenizerName, Remote: w.Remote, IDs: w.IDs}
			err := opened.open(&round, from)
			if err == nil && opened.N == 0 {
				err = errors.New("it has no prompts")
			}
			if err != nil {
				yield(nil, fmt.Errorf("opening it again: %w", err))
				return
			}
			for c, err := range opened.Source {
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
