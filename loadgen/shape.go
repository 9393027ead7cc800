package loadgen

import (
	"fmt"
	"math"

	"github.com/servebench/servebench/loadgen/arrivals"
)

// AtOnce reports whether all requests are due at once.
func (p *Plan) AtOnce() bool {
	t := &p.Traffic
	return !p.Workload.SelfTimed && t.RampUp == nil && t.Curve == nil && math.IsInf(t.RequestRate, 1)
}

// untimed is the plan without times of its dataset, which has none. It sends what it would have sent.
func (p *Plan) untimed() *Plan {
	u := *p
	u.Workload.SelfTimed, u.Traffic.Counted = false, true
	return &u
}

// Timed reports whether the duration of the load decides the number of prompts.
func (p *Plan) Timed() bool {
	return !p.Traffic.Counted && !p.Workload.SelfTimed && (p.Traffic.Curve != nil || p.Traffic.Duration > 0)
}

// Endless reports whether the load takes as many prompts as the server can answer.
func (p *Plan) Endless() bool { return p.Timed() && p.AtOnce() }

// arrivals are the times at which requests are due.
func (p *Plan) arrivals() arrivals.Process {
	t := &p.Traffic
	return arrivals.Process{
		Rule: t.Rule, Rate: t.RequestRate, Burstiness: t.Burstiness, RampUp: t.RampUp, Curve: t.Curve, Seed: p.arrivalSeed(),
	}
}

// arrivalSeed is the seed of the times at which requests are due.
func (p *Plan) arrivalSeed() int64 {
	if p.Traffic.Seed != nil {
		return *p.Traffic.Seed
	}
	return p.Workload.Seed
}

// firstRate is the rate at the start of the load, in requests a second.
func (p *Plan) firstRate() float64 {
	switch t := &p.Traffic; {
	case t.RampUp != nil:
		return float64(t.RampUp.Start)
	case t.Curve != nil:
		return t.Curve.Beginning()
	default:
		return t.RequestRate
	}
}

// Sized is the plan with the number of prompts that fit into its time, or p itself if the time does
// not decide it. For a curve, the number depends on the seed.
func (p *Plan) Sized() (*Plan, error) {
	if !p.Timed() || p.Endless() {
		return p, nil
	}
	named, until := "--duration", p.Traffic.Duration
	if until == 0 {
		named, until = "--rate-curve", p.Traffic.Curve.End()
	}
	n, err := p.arrivals().Count(until)
	if err == nil && n == 0 {
		err = fmt.Errorf("no request comes within %s", until)
	}
	if err != nil {
		return nil, fmt.Errorf("argument %s: %w", named, err)
	}
	sized := *p
	sized.Workload.NumPrompts = n
	return &sized, nil
}
