package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/servebench/servebench/loadgen"
)

// resolveShape looks at how the load's rate, its duration and its prompts, which
// the flag prompts gives, go together.
func (f *form) resolveShape(prompts *flag) error {
	t := &f.Traffic
	t.Counted = prompts.given
	atOnce := f.atInfiniteRate()
	unbounded := atOnce && t.MaxConcurrency == nil
	switch {
	case t.Curve != nil && f.Workload.SelfTimed:
		return fmt.Errorf("argument --rate-curve: the %s dataset has times of its own: give --no-self-timed, too", f.Workload.Dataset)
	case t.Curve != nil && t.Curve.End() == 0 && t.Duration == 0 && !t.Counted:
		return errors.New("argument --rate-curve: a sine has no end: give --duration or --num-prompts, too")
	case t.Duration > 0 && unbounded && !t.Counted:
		return errors.New("argument --duration: at an infinite rate it bounds nothing: give --request-rate, --max-concurrency or --num-prompts, too")
	case t.WarmUp > 0 && f.Workload.SelfTimed:
		return fmt.Errorf("argument --warmup-duration: the %s dataset has times of its own, and none before they begin: give --no-self-timed, too", f.Workload.Dataset)
	case t.WarmUp > 0 && unbounded:
		return errors.New("argument --warmup-duration: at an infinite rate there would be no end of requests: give --request-rate or --max-concurrency, too")
	case !f.timed():
		return nil
	}
	prompts.fallback = "" // what it says is not what is sent
	sized, err := f.sized()
	if err == nil {
		f.options = *sized
	}
	return err
}

// checkCurve refuses other rates beside a curve.
func (f *form) checkCurve() error {
	t := &f.Traffic
	switch {
	case t.Curve == nil:
		return nil
	case !math.IsInf(t.RequestRate, 1):
		return errors.New("argument --rate-curve: it takes the place of --request-rate: give one of the two")
	case f.rampUpStrategy != nil:
		return errors.New("argument --rate-curve: it takes the place of --ramp-up-strategy: give one of the two")
	case t.Rule == loadgen.UpToV092:
		return fmt.Errorf("argument --rate-curve: --arrival-rule %s knows none", t.Rule)
	}
	return nil
}
