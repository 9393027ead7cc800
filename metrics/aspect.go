package metrics

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
)

// An Aspect is one view of the measured requests of a run. It is made of Records alone: a Summary that does not
// come from Records has none, except what its reader gives it.
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

// sampled is an Aspect that also gets what the server and its GPUs reported, by AddSample.
type sampled interface{ AddSample(*samples.Sample) }

// limited is an Aspect that keeps exact values in several Distributions, together for so many requests.
type limited interface{ Bound(requests int) }

// parted is an Aspect of which a part of a run has more than the requests that are wholly inside. It gets each request
// that touched the part, after Add if that is due.
type parted interface{ AddPart(*record.Record, Window) }

// summed is an Aspect whose figures depend on the length of the run. Sum is the aspect of a Summary of a run that
// took so many seconds. It is valid until the next request.
type summed interface{ Sum(seconds float64) Aspect }

// named is an Aspect with one of the Latencies; nil for another, and if the run does not have it.
type named interface {
	Latency(name string) *Distribution
}

// recorded is an Aspect that needs what a stream without single chunk times does not have. The end line keeps it.
type recorded interface {
	// Kept are the counts, as JSON takes and gives them, and Distributions by the names of their histograms.
	Kept() (counts any, histograms map[string]*Distribution)
	// Adopt takes what an end line kept, in a new Aspect, for records that lack it. known says that the end
	// line has all gaps between chunks, by the same Definitions.
	Adopt(end Aspect, known bool)
}

// A Kind is an aspect as the list in metrics/aspect has it. Functions and texts may be nil and empty.
type Kind struct {
	Name    string
	New     func(*Header) Aspect // nil for a run that does not have it
	Whole   bool                 // a part of a run does not have it
	Shared  bool                 // a part of a run has the whole run's
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

// addPart adds a request that touched a part of a run.
func (v views) addPart(r *record.Record, w Window) {
	for i := range v {
		if a, asks := v[i].Aspect.(parted); asks {
			a.AddPart(r, w)
		}
	}
}

// addSample adds a sample.
func (v views) addSample(s *samples.Sample) {
	for i := range v {
		if a, asks := v[i].Aspect.(sampled); asks {
			a.AddSample(s)
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
	for i := range v {
		if a, has := v[i].Aspect.(limited); has {
			a.Bound(most)
		}
	}
}

// end adds what an end line keeps of the views: their counts to e, unless there are none, and their Distributions
// to those by the names of their histograms.
func (v views) end(e *End, histograms map[string]*Distribution) error {
	for i := range v {
		a, has := v[i].Aspect.(recorded)
		if !has {
			continue
		}
		counts, all := a.Kept()
		maps.Copy(histograms, all)
		text, err := json.Marshal(counts)
		if err != nil {
			return fmt.Errorf("encoding the counts of %s: %w", v[i].kind.Name, err)
		}
		if string(text) == "{}" {
			continue
		}
		if e.Aspects == nil {
			e.Aspects = map[string]json.RawMessage{}
		}
		e.Aspects[v[i].kind.Name] = text
	}
	return nil
}

// adopt takes what an end line kept of the views.
func (v views) adopt(e *End, h *Header, known bool) error {
	for i := range v {
		a, has := v[i].Aspect.(recorded)
		if !has {
			continue
		}
		end := v[i].kind.New(h)
		counts, histograms := end.(recorded).Kept()
		if text := e.Aspects[v[i].kind.Name]; text != nil {
			if err := json.Unmarshal(text, counts); err != nil {
				return fmt.Errorf("decoding the counts of %s: %w", v[i].kind.Name, err)
			}
		}
		for name, d := range histograms {
			values, err := e.histogram(name)
			if err != nil {
				return err
			}
			if values != nil {
				d.adopt(values)
			}
		}
		a.Adopt(end, known)
	}
	return nil
}

// sum is the views of a Summary of a run that took so many seconds.
func (v views) sum(seconds float64) views {
	all := slices.Clone(v)
	for i := range all {
		if a, has := all[i].Aspect.(summed); has {
			all[i].Aspect = a.Sum(seconds)
		}
	}
	return all
}

// shared are the views that a part of the run has, too.
func (v views) shared() views {
	return slices.DeleteFunc(slices.Clone(v), func(one view) bool { return !one.kind.Shared })
}

// kinds are what the other views of a part of the run are of.
func (v views) kinds() (kinds []*Kind) {
	for i := range v {
		if !v[i].kind.Whole && !v[i].kind.Shared {
			kinds = append(kinds, v[i].kind)
		}
	}
	return kinds
}

// Give gives a run an aspect that does not come from its Records, in place of one of the same kind.
func (s *Summary) Give(kind *Kind, a Aspect) {
	others := slices.DeleteFunc(slices.Clone(s.views), func(v view) bool { return v.kind == kind })
	s.views = append(others, view{kind, a})
}

// latency is the latency of that name that a view has; nil if none has it.
func (v views) latency(name string) *Distribution {
	for _, one := range v {
		if a, has := one.Aspect.(named); has {
			if d := a.Latency(name); d != nil {
				return d
			}
		}
	}
	return nil
}

// Aspects yields the aspects of a run with their kinds, in the order of the list.
func Aspects(s *Summary) iter.Seq2[*Kind, Aspect] {
	return func(yield func(*Kind, Aspect) bool) {
		for _, v := range s.views {
			if !yield(v.kind, v.Aspect) {
				return
			}
		}
	}
}

// View is the aspect A of a run; a new one if the run has none.
func View[A any, P interface {
	*A
	Aspect
}](s *Summary) P {
	for _, v := range s.views {
		if a, is := v.Aspect.(P); is {
			return a
		}
	}
	return new(A)
}
