package metrics

import (
	"iter"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

// An Aspect is one view of the measured requests of a run. It is made of Records alone: a Summary that does not
// come from Records has none.
type Aspect interface {
	// Add adds a measured request. It does not keep the record.
	Add(*record.Record)
	// Merge adds the requests of the same aspect of another shard, which is not used afterwards.
	Merge(Aspect)
}

// timed is an Aspect with Distributions. They are settled and condensed with the Summary's, and keep as many exact
// values as a Collector keeps requests.
type timed interface{ Distributions() []*Distribution }

// clocked is an Aspect that keeps times. Shift moves them all, because the run's clock began that much earlier.
type clocked interface{ Shift(later time.Duration) }

// warm is an Aspect that also gets the requests of the warm-up, by AddWarmUp.
type warm interface{ AddWarmUp(*record.Record) }

// crossed is an Aspect that also gets the requests that open a conversation, were sent within a part of a run, and
// ended after it.
type crossed interface{ AddSent(*record.Record) }

// finished is an Aspect with numbers that depend on all of its requests and on how long the run took. Finish
// computes them, as often as there is a Summary.
type finished interface {
	Finish(h *Header, seconds float64)
}

// A Kind is an aspect as the list in metrics/aspect has it. Functions and texts may be nil and empty.
type Kind struct {
	Name    string
	New     func(*Header) Aspect // nil for a run that does not have it
	Numbers func() []Number      // its rows of the catalogue
	// Facts are its members of the object "truth" in a result file.
	Facts func(*Summary) []Fact
	// Text says the facts in words, in paragraphs: a line with the label, then the text, both as templates of
	// text/template. They know the facts by their keys, the Summary as .run, its number of requests as
	// .requests, and the Aspect as .aspect. A paragraph without words is left out.
	Text string
}

// A Fact is one member of a result file. Its key ends with its unit unless it is a count, and its Value is
// what package pyjson takes.
type Fact struct {
	Key   string
	Value any
}

// Some is the fact of a count; none for 0.
func Some[N int | int64](key string, n N) []Fact {
	if n <= 0 {
		return nil
	}
	return []Fact{{key, n}}
}

// A view is an Aspect of a run.
type view struct {
	kind *Kind
	Aspect
}

// views are the Aspects of a run, of the kinds that it has.
type views []view

func newViews(h *Header, kinds []*Kind) (all views) {
	for _, k := range kinds {
		if a := k.New(h); a != nil {
			all = append(all, view{k, a})
		}
	}
	return all
}

// merge adds the requests of other shards, whose clock began that much later. An aspect that they alone have is
// taken over.
func (v *views) merge(others views, later time.Duration) {
	for _, other := range others {
		if a, has := other.Aspect.(clocked); has {
			a.Shift(later)
		}
		i := slices.IndexFunc(*v, func(mine view) bool { return mine.kind == other.kind })
		if i < 0 {
			*v = append(*v, other)
			continue
		}
		(*v)[i].Merge(other.Aspect)
	}
}

// addWarmUp adds a request of the warm-up.
func (v views) addWarmUp(r *record.Record) {
	for i := range v {
		if a, asks := v[i].Aspect.(warm); asks {
			a.AddWarmUp(r)
		}
	}
}

// addSent adds a request that was sent within a part of a run, and ended after it.
func (v views) addSent(r *record.Record) {
	for i := range v {
		if a, asks := v[i].Aspect.(crossed); asks {
			a.AddSent(r)
		}
	}
}

// finish computes what depends on all requests of a run that took so many seconds.
func (v views) finish(h *Header, seconds float64) {
	for i := range v {
		if a, has := v[i].Aspect.(finished); has {
			a.Finish(h, seconds)
		}
	}
}

// distributions are the Distributions of all views.
func (v views) distributions() (all []*Distribution) {
	for i := range v {
		if a, has := v[i].Aspect.(timed); has {
			all = append(all, a.Distributions()...)
		}
	}
	return all
}

// limit lets the Distributions of all views keep so many exact values, with room for the expected requests.
func (v views) limit(most, expected int) {
	for _, d := range v.distributions() {
		if d.limit = most; d.each {
			d.expected = expected
		}
	}
}

// kinds are what the views are of.
func (v views) kinds() (kinds []*Kind) {
	for i := range v {
		kinds = append(kinds, v[i].kind)
	}
	return kinds
}

// Aspects yields the aspects of a run with their kinds, in the order of the list.
func Aspects(s *Summary) iter.Seq2[*Kind, Aspect] {
	return func(yield func(*Kind, Aspect) bool) {
		for _, v := range s.views() {
			if !yield(v.kind, v.Aspect) {
				return
			}
		}
	}
}

func (s *Summary) views() views {
	if s.Truth == nil {
		return nil
	}
	return s.Truth.views
}

// View is the aspect A of a run; a new one if the run has none.
func View[A any, P interface {
	*A
	Aspect
}](s *Summary) P {
	for _, v := range s.views() {
		if a, is := v.Aspect.(P); is {
			return a
		}
	}
	return new(A)
}
