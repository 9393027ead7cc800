package metrics

import (
	"slices"
	"time"

	"github.com/servebench/servebench/metrics/cost"
)

// A split says which part of what the GPUs did is put to one of several targets, by the time in
// which any of its measured requests was in flight.
type split struct {
	share float64 // of the sum of these times over all targets
	whole Window  // of all targets together
}

// Split divides what GPUs cost over the targets that shared them: the runs of one load test, as of a
// pair, that were not alone and have the same --gpu-metrics. Call it once all Summaries of a group are
// there.
func Split(sums []*Summary) {
	type shared struct {
		group string
		pair  [2]string // in one order
		gpus  string
	}
	keys, by := By(sums, func(s *Summary) shared {
		key := shared{group: s.Header.Group, gpus: Value(s.Header.Flags, "gpu-metrics")}
		if a, b := s.Header.Target, s.Header.With; b != "" {
			key.pair = [2]string{min(a, b), max(a, b)}
		}
		return key
	})
	for _, key := range keys {
		all := slices.DeleteFunc(by[key], func(s *Summary) bool { return s.Header.Solo || s.Truth == nil })
		if key.group == "" || len(all) < 2 {
			continue
		}
		busy, whole := time.Duration(0), all[0].Whole()
		for _, s := range all {
			busy += s.Truth.Busy
			whole = Window{min(whole.From, s.Whole().From), max(whole.To, s.Whole().To)}
		}
		for _, s := range all {
			s.split = &split{float64(s.Truth.Busy) / float64(max(busy, 1)), whole}
		}
	}
}

// Energy is what the run took from its GPUs, in its measured part; nil if they were not sampled. For
// a target that shared GPUs with others it is an estimate: its share of all energy in the measured
// parts of all of them. See Split.
func (s *Summary) Energy() *cost.Energy {
	if len(s.power) == 0 {
		return nil
	}
	span := s.Whole()
	if s.split == nil {
		return new(s.power.Energy(span.From, span.To))
	}
	if s.Part == nil {
		span = s.split.whole
	}
	e := s.power.Energy(span.From, span.To)
	e.Joules *= s.split.share
	e.Share = s.split.share
	return &e
}

// Power is what the GPUs took over time; empty if they were not sampled.
func (s *Summary) Power() cost.Curve { return s.power }

// Tokens are the prompt and output tokens of completed requests together.
func (s *Summary) Tokens() int { return max(s.TotalInput, 0) + max(s.TotalOutput, 0) }

// Dollars is what the GPUs of the run cost while it was measured, by Config.Price; NaN without a
// price. A target that shared its GPUs with others pays its share: see Split.
func (s *Summary) Dollars() float64 {
	seconds, share := s.Seconds, 1.0
	if s.split != nil {
		share = s.split.share
	}
	if s.split != nil && s.Part == nil {
		seconds = s.split.whole.Seconds()
	}
	return s.Header.Config.Price.Dollars(s.Header.Config.GPUs(), seconds) * share
}
