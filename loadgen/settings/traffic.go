package settings

import (
	"math"
	"time"

	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/metrics"
)

// Traffic says when requests are sent.
type Traffic struct {
	// RequestRate is in requests a second; +Inf, or 0, sends all at once. With a RampUp or a Curve
	// it must be +Inf or 0.
	RequestRate float64

	// Burstiness is the shape of the gamma distribution of the gaps: 1 (or 0) is a Poisson process,
	// less is burstier, +Inf is even.
	Burstiness float64

	// MaxConcurrency bounds the requests in flight; nil for no limit.
	MaxConcurrency *int

	// MaxSessions bounds the sessions that have begun and not ended; nil for no limit.
	MaxSessions *int

	// Breadth gives a slot to a first turn before a later turn; see engine.Load.
	Breadth bool

	// Absolute sends a later turn at the dataset's time for it, or at once if what it waits for ends
	// later. Without it, a later turn waits for its gap.
	Absolute bool

	Rule   arrivals.Rule
	RampUp *metrics.RampUp

	// Curve is a rate that changes over time; nil for a constant rate.
	Curve *arrivals.Curve

	// Duration is the time after which nothing is sent; 0 for no limit.
	Duration time.Duration

	// Counted says that Workload.NumPrompts bounds the load even if it has more time. Otherwise a
	// load with a Duration or a Curve has as many requests as fit into its time.
	Counted bool

	// WarmUp is how long the same kind of load runs before the measured one.
	WarmUp time.Duration

	// Warmups is the number of requests before the measured ones.
	Warmups int

	// ReadyCheck is how long to wait for the server; 0 does not check.
	ReadyCheck time.Duration

	// Warm opens the connections before the clock starts.
	Warm bool

	// Delay is the time before the first request.
	Delay time.Duration

	// Seed draws the arrival times; nil for the Workload's seed.
	Seed *int64

	// ProbeRate is in probes a second, not counting the time of their answers; 0 for no probes.
	ProbeRate float64

	// Retries is how many times a failed request may be sent again.
	Retries int

	// SleepFirst is the level at which the server sleeps before the load, 1 or 2, to measure its
	// wake; 0 for none.
	SleepFirst int
}

// AtOnce reports whether all requests of w are due at once.
func (t *Traffic) AtOnce(w *Workload) bool {
	return !w.SelfTimed && t.RampUp == nil && t.Curve == nil && math.IsInf(t.RequestRate, 1)
}

// Timed reports whether the duration of the load decides how many prompts of w are sent.
func (t *Traffic) Timed(w *Workload) bool {
	return !t.Counted && !w.SelfTimed && (t.Curve != nil || t.Duration > 0)
}

// Endless reports whether the load takes as many prompts of w as the server can answer.
func (t *Traffic) Endless(w *Workload) bool { return t.Timed(w) && t.AtOnce(w) }

// Arrivals are the times at which requests of w are due.
func (t *Traffic) Arrivals(w *Workload) arrivals.Process {
	seed := w.Seed
	if t.Seed != nil {
		seed = *t.Seed
	}
	return arrivals.Process{
		Rule: t.Rule, Rate: t.RequestRate, Burstiness: t.Burstiness, RampUp: t.RampUp, Curve: t.Curve, Seed: seed,
	}
}

// FirstRate is the rate at the start of the load, in requests a second.
func (t *Traffic) FirstRate() float64 {
	switch {
	case t.RampUp != nil:
		return float64(t.RampUp.Start)
	case t.Curve != nil:
		return t.Curve.Beginning()
	default:
		return t.RequestRate
	}
}

// Probes reports whether this process sends probes. Only one shard does.
func (t *Traffic) Probes(s *Shard) bool { return t.ProbeRate > 0 && s.Index == 0 }
