package main

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics"
)

func (f *form) trafficFlags() []*flag {
	t := &f.Traffic
	return []*flag{
		{name: "request-rate", meta: "RATE", fallback: "inf", set: into(&t.RequestRate, parseFloat),
			help: "requests a second; inf sends all at once"},
		{name: "burstiness", meta: "SHAPE", fallback: "1.0", set: into(&t.Burstiness, parseFloat),
			help: "shape of the gaps' gamma distribution: 1 Poisson, less is burstier, inf even"},
		{name: "arrival-rule", meta: "RULE", choices: []string{string(loadgen.SinceV010), string(loadgen.UpToV092)},
			fallback: string(loadgen.SinceV010), ours: true, set: into(&t.Rule, parseRule),
			help: "when requests are due; 0.9.2: the first at 0 and gaps as drawn, as vLLM had it up to that release"},
		{name: "max-concurrency", meta: "N", set: intoOptional(&t.MaxConcurrency, parseInt),
			help: "requests in flight at most (default no limit)"},
		{name: "ramp-up-strategy", meta: "NAME", choices: []string{"linear", "exponential"},
			set:  intoOptional(&f.rampUpStrategy, parseString),
			help: "let the rate grow over the requests; excludes --request-rate"},
		{name: "ramp-up-start-rps", meta: "RATE", set: intoOptional(&f.rampUpStart, parseInt),
			help: "the ramp's first rate, in requests a second"},
		{name: "ramp-up-end-rps", meta: "RATE", set: intoOptional(&f.rampUpEnd, parseInt),
			help: "the ramp's last rate, in requests a second"},
		{name: "rate-curve", meta: "SPEC", ours: true, set: into(&t.Curve, loadgen.ParseCurve),
			help: "a rate that changes over time, instead of --request-rate: " + loadgen.CurveForms},
		{name: "duration", meta: "TIME", fallback: "0", ours: true, set: into(&t.Duration, parseSeconds),
			help: "send nothing from then on; without --num-prompts, as many prompts as it takes; 0 for no limit"},
		{name: "warmup-duration", meta: "TIME", fallback: "0", ours: true, set: into(&t.WarmUp, parseSeconds),
			help: "put the same kind of load on for that long before, which hands over to the measured one without a break"},
		{name: "num-warmups", meta: "N", fallback: "0", set: into(&t.Warmups, parseInt),
			help: "requests to send before the measured ones"},
		{name: "ready-check-timeout-sec", meta: "SECONDS", fallback: "0", set: into(&f.readyCheck, parseInt),
			help: "how long to wait for the server to answer; 0 does not check"},
		{name: "delay", meta: "TIME", fallback: "0", ours: true, set: into(&t.Delay, parseSeconds),
			help: "how long to wait before the first request; for a single --target"},
		{name: "probe-request-rate", meta: "RATE", fallback: "0", set: into(&t.ProbeRate, parseFloat),
			help: "beside the load, send requests of one token one after the other, with a pause of 1/RATE between"},
		{name: "retries", meta: "N", fallback: "0", ours: true, set: into(&t.Retries, parseInt),
			help: "send a request again, N times at most, that failed before a piece of its answer came and may fare better; its latency counts from the first time"},
		{name: "profile", args: none, set: switchTo(&t.Profile, true),
			help: "have the server profile the load, by its /start_profile and /stop_profile"},
		{name: "warm-connections", args: none, ours: true, set: switchTo(&t.Warm, true),
			help: "open the connections before the load begins, so that connecting is not inside TTFT"},
	}
}

// maxRetries is far more than what still says something of a server.
const maxRetries = 1000

func parseRule(name string) (loadgen.ArrivalRule, error) { return loadgen.ArrivalRule(name), nil }

func (f *form) resolveTraffic() error {
	t := &f.Traffic
	switch {
	case t.MaxConcurrency != nil && *t.MaxConcurrency <= 0:
		return errors.New("--max-concurrency must be greater than 0")
	case !(t.RequestRate > 0):
		return fmt.Errorf("argument --request-rate: %s: it must be greater than 0, or inf", metrics.FormatFloat(t.RequestRate))
	case !(t.Burstiness > 0):
		return fmt.Errorf("argument --burstiness: %s: it must be greater than 0, or inf", metrics.FormatFloat(t.Burstiness))
	case t.Warmups < 0:
		return fmt.Errorf("argument --num-warmups: %d: it must not be negative", t.Warmups)
	case t.Retries < 0 || t.Retries > maxRetries:
		return fmt.Errorf("argument --retries: %d: it must be from 0 to %d", t.Retries, maxRetries)
	case f.readyCheck < 0:
		return fmt.Errorf("argument --ready-check-timeout-sec: %d: it must not be negative", f.readyCheck)
	case !(t.ProbeRate >= 0) || math.IsInf(t.ProbeRate, 1):
		return fmt.Errorf("argument --probe-request-rate: %s: it must be a number of requests a second, or 0 for none", metrics.FormatFloat(t.ProbeRate))
	}
	t.ReadyCheck = time.Duration(f.readyCheck) * time.Second
	if err := f.checkCurve(); err != nil {
		return err
	}
	if f.rampUpStrategy != nil && t.Rule == loadgen.UpToV092 {
		return errors.New("--arrival-rule 0.9.2 knows no --ramp-up-strategy")
	}
	if f.rampUpStrategy != nil {
		return f.resolveRampUp()
	}
	if f.rampUpStart != nil || f.rampUpEnd != nil {
		return errors.New("--ramp-up-start-rps and --ramp-up-end-rps need --ramp-up-strategy linear or exponential")
	}
	return nil
}

func (f *form) resolveRampUp() error {
	problem := ""
	start, end := f.rampUpStart, f.rampUpEnd
	switch {
	case !math.IsInf(f.Traffic.RequestRate, 1):
		problem = "When using ramp-up, do not specify --request-rate. The request rate will be controlled by " +
			"ramp-up parameters. Please remove the --request-rate argument."
	case start == nil || end == nil:
		problem = "When using --ramp-up-strategy, both --ramp-up-start-rps and --ramp-up-end-rps must be specified"
	case *start < 0 || *end < 0:
		problem = "Ramp-up start and end RPS must be non-negative"
	case *start > *end:
		problem = "Ramp-up start RPS must be less than end RPS"
	case *start == 0 && *f.rampUpStrategy == "exponential":
		problem = "For exponential ramp-up, the start RPS cannot be 0."
	case *start == 0:
		problem = "the start RPS cannot be 0: the first request would never be sent"
	default:
		f.Traffic.RampUp = &metrics.RampUp{Strategy: *f.rampUpStrategy, Start: *start, End: *end}
		return nil
	}
	return fmt.Errorf("argument --ramp-up-strategy: %s", problem)
}
