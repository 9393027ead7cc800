package arrivals

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/metrics"
)

// A Rule says how to use the gaps between requests, which are drawn from a gamma distribution.
type Rule string

const (
	// SinceV010 is the rule of vLLM's client since v0.10. With a constant rate, all gaps are
	// stretched so that the last of n requests is due at exactly n/Rate. The first request is due
	// after its own gap, not at 0.
	SinceV010 Rule = "latest"

	// UpToV092 is the earlier rule. The first request is due at 0, a gap follows each request, and
	// no gap is stretched. The run lasts at least until the end of the gap after the last request.
	UpToV092 Rule = "0.9.2"
)

// A Process is an arrival process: it says when requests arrive. Its times equal those that vLLM's
// client computes.
type Process struct {
	Rule Rule // SinceV010 if empty; UpToV092 allows no RampUp

	// Rate is in requests a second. +Inf sends all at once. RampUp and Curve replace it.
	Rate float64

	// Burstiness is the shape of the gamma distribution. 1 is a Poisson process, less is burstier,
	// and +Inf makes even gaps.
	Burstiness float64

	RampUp *metrics.RampUp // a rate that grows with the request index, nil for a constant rate
	Seed   int64           // of numpy's legacy generator, 0 to 2³²−1

	// Curve, if not nil, is a rate that changes over time. It excludes RampUp and UpToV092, and it
	// stretches no gap.
	Curve *Curve

	// Start, if not nil, is the generator that gaps are drawn from, instead of a freshly seeded
	// one: its state where the dataset left it. It is copied, not changed. A Curve ignores it: the
	// dataset may need the number of requests, which the gaps decide.
	Start *nprand.RandomState
}

// Schedule yields when each of n requests is due, to the nanosecond. A Curve that ends at 0 may
// yield fewer.
func (a Process) Schedule(n int) (iter.Seq[time.Duration], error) {
	offsets, err := a.Offsets(n)
	if err != nil {
		return nil, err
	}
	return func(yield func(time.Duration) bool) {
		for s := range offsets {
			if !yield(dataset.Seconds(s)) {
				return
			}
		}
	}, nil
}

// Offsets yields when each of n requests is due, in seconds from the start. Without a Curve, it is
// the exact float64 that vLLM's client computes. It holds no list: each range over it draws again.
func (a Process) Offsets(n int) (iter.Seq[float64], error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	if a.Curve != nil {
		return a.along(n), nil
	}
	stretch := 1.0
	if a.RampUp == nil && a.Rule != UpToV092 {
		last := 0.0
		for gap := range a.gaps(n) {
			last += gap
		}
		if last != 0 {
			stretch = float64(n) / a.Rate / last
		}
	}
	return func(yield func(float64) bool) {
		at := 0.0
		for gap := range a.gaps(n) {
			due := at
			if at += gap; a.Rule != UpToV092 {
				due = at * stretch
			}
			if !yield(due) {
				return
			}
		}
	}, nil
}

// along yields when n requests are due by the Curve, or as many as the Curve has.
func (a Process) along(n int) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		reached := 0.0
		for gap := range a.gaps(n) {
			reached += gap
			if due := a.Curve.when(reached); math.IsInf(due, 1) || !yield(due) {
				return
			}
		}
	}
}

// Lasts is the least duration of a run of n requests: 0 except for UpToV092.
func (a Process) Lasts(n int) (time.Duration, error) {
	if err := a.check(); err != nil || a.Rule != UpToV092 {
		return 0, err
	}
	end := 0.0
	for gap := range a.gaps(n) {
		end += gap
	}
	return dataset.Seconds(end), nil
}

// A RateRise is a moment at which a ramp reaches the next whole number of requests a second: when
// the request with the index Index is due.
type RateRise struct {
	RPS    int
	Index  int
	Offset time.Duration
}

// RateRises returns the rises of a ramp over n requests, one for each whole number on the way; the
// first is the rate at the start, at offset 0. It is empty without RampUp. They are vLLM's
// rps_change_events.
func (a Process) RateRises(n int) ([]RateRise, error) {
	if a.RampUp == nil {
		return nil, nil
	}
	schedule, err := a.Schedule(n)
	if err != nil {
		return nil, err
	}
	rises := []RateRise{{RPS: a.RampUp.Start}}
	reached, i := a.RampUp.Start, 0
	for due := range schedule {
		for rate := int(a.rate(i, n)); reached < rate; {
			reached++
			rises = append(rises, RateRise{reached, i, due})
		}
		i++
	}
	return rises, nil
}

func (a Process) check() error {
	if a.Seed < 0 || a.Seed > math.MaxUint32 {
		return fmt.Errorf("seed %d: must be between 0 and %d", a.Seed, uint32(math.MaxUint32))
	}
	if !(a.Burstiness > 0) {
		return fmt.Errorf("burstiness %v: must be above 0, or inf", a.Burstiness)
	}
	ramp := a.RampUp
	switch {
	case a.Rule != "" && a.Rule != SinceV010 && a.Rule != UpToV092:
		return fmt.Errorf("arrival rule %q: must be %s or %s", a.Rule, SinceV010, UpToV092)
	case a.Rule == UpToV092 && ramp != nil:
		return fmt.Errorf("the arrival rule %s knows no ramp-up", a.Rule)
	case a.Curve != nil && (a.Rule == UpToV092 || ramp != nil):
		return errors.New("a rate curve goes with no ramp-up and no former arrival rule")
	case a.Curve != nil:
		return nil
	case ramp == nil && !(a.Rate > 0):
		return fmt.Errorf("request rate %v: must be above 0, or inf", a.Rate)
	case ramp == nil:
		return nil
	case ramp.Strategy != "linear" && ramp.Strategy != "exponential":
		return fmt.Errorf("ramp-up strategy %q: must be linear or exponential", ramp.Strategy)
	case ramp.Start <= 0 || ramp.End <= 0:
		return fmt.Errorf("ramp-up from %d to %d requests/s: both rates must be above 0", ramp.Start, ramp.End)
	}
	return nil
}

// gaps yields the time from each of n requests to the next, as drawn.
func (a Process) gaps(n int) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		rng := nprand.NewRandomState(uint32(a.Seed))
		if a.Start != nil && a.Curve == nil {
			*rng = *a.Start
		}
		for i := range n {
			if !yield(a.gap(rng, a.rate(i, n))) {
				return
			}
		}
	}
}

func (a Process) gap(rng *nprand.RandomState, rate float64) float64 {
	switch {
	case math.IsInf(rate, 1):
		return 0
	case math.IsInf(a.Burstiness, 1):
		return 1 / rate
	default:
		return rng.Gamma(a.Burstiness, 1/(rate*a.Burstiness))
	}
}

// rate is the rate at request i of n. A ramp follows the index, not the time. A Curve's gaps have
// the mean 1.
func (a Process) rate(i, n int) float64 {
	if a.Curve != nil {
		return 1
	}
	if a.RampUp == nil {
		return a.Rate
	}
	start, end := float64(a.RampUp.Start), float64(a.RampUp.End)
	progress := float64(i) / float64(max(n-1, 1))
	if a.RampUp.Strategy == "linear" {
		return start + float64((end-start)*progress)
	}
	return start * nprand.Pow(end/start, progress)
}
