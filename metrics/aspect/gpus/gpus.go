// Package gpus is what the GPUs of a run took while it was measured, what that cost, and what slowed them down.
//
// GPUs are sampled, so this aspect adds samples and no requests. A part of a run has the whole run's.
package gpus

import (
	"slices"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/cost"
	"github.com/servebench/servebench/metrics/gpu"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
)

// sampled is what samples said of the GPUs of a run.
type sampled struct {
	began time.Duration // of the measured part
	meter cost.Meter
	power cost.Curve // of a Summary; empty if the GPUs were not sampled
	split *split     // with the other targets of its group; nil for no others
	// clocks are what slowed GPUs down in the measured part, one for each GPU that said so.
	clocks []gpu.Clocks
}

// A split says which part of what the GPUs did is put to one of several targets, by the time in
// which any of its measured requests was in flight.
type split struct {
	share float64        // of the sum of these times over all targets
	whole metrics.Window // of all targets together
}

// Kind is the aspect as the list has it.
var Kind = &metrics.Kind{
	Name: "gpus", Shared: true,
	New:   func(h *metrics.Header) metrics.Aspect { return &sampled{began: h.Began()} },
	Facts: facts, Text: text,
}

func of(s *metrics.Summary) *sampled { return metrics.View[sampled](s) }

// Add does nothing: a request says nothing of a GPU.
func (g *sampled) Add(*record.Record) {}

// AddSample adds a sample. What slowed GPUs down does not count before the load began.
func (g *sampled) AddSample(s *samples.Sample) {
	for _, one := range s.GPUs {
		g.meter.Add(one.Index, s.At, one.Power, one.Energy)
		if one.Reasons == nil || s.At < g.began {
			continue
		}
		at := slices.IndexFunc(g.clocks, func(k gpu.Clocks) bool { return k.Index == one.Index })
		if at < 0 {
			at = len(g.clocks)
			g.clocks = append(g.clocks, gpu.Clocks{Index: one.Index})
		}
		g.clocks[at].Add(*one.Reasons)
	}
}

// Shift moves all times.
func (g *sampled) Shift(later time.Duration) {
	var moved cost.Meter
	moved.Merge(&g.meter, later)
	g.meter = moved
}

// Merge adds what another shard sampled. Its GPUs are of another machine.
func (g *sampled) Merge(o metrics.Aspect) {
	other := o.(*sampled)
	g.meter.Merge(&other.meter, 0)
	g.clocks = append(g.clocks, other.clocks...)
}

// Sum is the aspect of a Summary.
func (g *sampled) Sum(float64) metrics.Aspect {
	return &sampled{clocks: slices.Clone(g.clocks), power: g.meter.Curve()}
}

// Power is what the GPUs took over time; empty if they were not sampled.
func Power(s *metrics.Summary) cost.Curve { return of(s).power }

// Energy is what the run took from its GPUs, in its measured part; nil if they were not sampled. For
// a target that shared GPUs with others it is an estimate: its share of all energy in the measured
// parts of all of them. See Split.
func Energy(s *metrics.Summary) *cost.Energy {
	g := of(s)
	if len(g.power) == 0 {
		return nil
	}
	span := s.Whole()
	if g.split == nil {
		return new(g.power.Energy(span.From, span.To))
	}
	if s.Parts.Of == nil {
		span = g.split.whole
	}
	e := g.power.Energy(span.From, span.To)
	e.Joules *= g.split.share
	e.Share = g.split.share
	return &e
}

// Dollars is what the GPUs of the run cost while it was measured, by Config.Price; NaN without a
// price. A target that shared its GPUs with others pays its share: see Split.
func Dollars(s *metrics.Summary) float64 {
	g := of(s)
	seconds, share := s.When.Seconds, 1.0
	if g.split != nil {
		share = g.split.share
	}
	if g.split != nil && s.Parts.Of == nil {
		seconds = g.split.whole.Seconds()
	}
	return s.Header.Config.Price.Dollars(s.Header.Config.GPUs(), seconds) * share
}

// Split divides what GPUs cost over the targets that shared them: the runs of one load test, as of a
// pair, that were not alone and have the same --gpu-metrics. Call it once all Summaries of a group are
// there.
func Split(sums []*metrics.Summary) {
	type shared struct {
		group string
		pair  [2]string // in one order
		gpus  string
	}
	keys, by := metrics.By(sums, func(s *metrics.Summary) shared {
		key := shared{group: s.Header.Group, gpus: metrics.Value(s.Header.Flags, "gpu-metrics")}
		if a, b := s.Header.Target, s.Header.With; b != "" {
			key.pair = [2]string{min(a, b), max(a, b)}
		}
		return key
	})
	for _, key := range keys {
		all := slices.DeleteFunc(by[key], func(s *metrics.Summary) bool { return s.Header.Solo || s.Truth == nil })
		if key.group == "" || len(all) < 2 {
			continue
		}
		busy, whole := time.Duration(0), all[0].Whole()
		for _, s := range all {
			busy += s.Truth.Busy
			whole.From, whole.To = min(whole.From, s.Whole().From), max(whole.To, s.Whole().To)
		}
		for _, s := range all {
			g := *of(s)
			g.split = &split{float64(s.Truth.Busy) / float64(max(busy, 1)), whole}
			s.Give(Kind, &g)
		}
	}
}
