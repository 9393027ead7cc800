package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/metrics"
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

// atInfiniteRate says whether requests are all due at once.
func (o *options) atInfiniteRate() bool {
	t := &o.Traffic
	return !o.Workload.SelfTimed && t.RampUp == nil && t.Curve == nil && math.IsInf(t.RequestRate, 1)
}

// timed says whether the number of prompts is what the load takes in its time.
func (o *options) timed() bool {
	return !o.Traffic.Counted && !o.Workload.SelfTimed && (o.Traffic.Curve != nil || o.Traffic.Duration > 0)
}

// endless says whether the load takes as many prompts as the server answers.
func (o *options) endless() bool { return o.timed() && o.atInfiniteRate() }

// arrivals are when requests are due.
func (o *options) arrivals() arrivals.Arrivals {
	t := &o.Traffic
	return arrivals.Arrivals{
		Rule: t.Rule, Rate: t.RequestRate, Burstiness: t.Burstiness, RampUp: t.RampUp, Curve: t.Curve, Seed: o.arrivalSeed(),
	}
}

// arrivalSeed is the seed of the times at which requests are due.
func (o *options) arrivalSeed() int64 {
	if o.Traffic.Seed != nil {
		return *o.Traffic.Seed
	}
	return o.Workload.Seed
}

// unsent says that a curve whose last rate is 0 had fewer requests than prompts.
func (b *bench) unsent(s *metrics.Summary) []string {
	sent := s.Completed + s.Failed
	if b.Traffic.Curve == nil || b.Traffic.Duration > 0 || s.Interrupted || sent >= b.share() {
		return nil
	}
	return []string{fmt.Sprintf("--rate-curve: its last rate is 0: %d of --num-prompts %d were sent", sent, b.share())}
}

// sized is o with the number of prompts that its time takes. That of a curve
// depends on the seed.
func (o *options) sized() (*options, error) {
	if !o.timed() || o.endless() {
		return o, nil
	}
	named, until := "--duration", o.Traffic.Duration
	if until == 0 {
		named, until = "--rate-curve", o.Traffic.Curve.End()
	}
	n, err := o.arrivals().Count(until)
	if err == nil && n == 0 {
		err = fmt.Errorf("no request comes within %s", until)
	}
	if err != nil {
		return nil, fmt.Errorf("argument %s: %w", named, err)
	}
	sized := *o
	sized.Workload.NumPrompts = n
	return &sized, nil
}

// extend has the workload begin again, with other seeds, where the load takes more
// prompts than it has.
func (w *workload) extend(o *options, from tokenizerSource) {
	want := o.Workload.NumPrompts
	if o.endless() {
		want = math.MaxInt
	}
	if !o.timed() || w.n >= want {
		return
	}
	if !makesIDs(o.Workload.Dataset) {
		from.say("the %s dataset has %s: should the load take more, they are sent again", o.Workload.Dataset, count(w.n, "prompt"))
	}
	from.say = func(string, ...any) {} // all is said once
	first, rest := w.source, w.again(o, from, o.Workload.Seed+roundSeeds)
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
func (w *workload) again(o *options, from tokenizerSource, seed int64) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		for seed := seed; ; seed += roundSeeds {
			round := *o
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
