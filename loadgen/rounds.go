package loadgen

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/servebench/servebench/dataset"
)

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
