package metrics

import (
	"slices"

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

// timed is an Aspect with Distributions. They are settled and condensed with the Summary's.
type timed interface{ Distributions() []*Distribution }

// A Kind is an aspect as the list in metrics/aspect has it.
type Kind struct {
	Name    string
	New     func(*Header) Aspect // nil for a run that does not have it
	Numbers func() []Number      // its rows of the catalogue; nil for none
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

// merge adds the requests of other shards. An aspect that they alone have is taken over.
func (v *views) merge(others views) {
	for _, other := range others {
		i := slices.IndexFunc(*v, func(mine view) bool { return mine.kind == other.kind })
		if i < 0 {
			*v = append(*v, other)
			continue
		}
		(*v)[i].Merge(other.Aspect)
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

// kinds are what the views are of.
func (v views) kinds() (kinds []*Kind) {
	for i := range v {
		kinds = append(kinds, v[i].kind)
	}
	return kinds
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
