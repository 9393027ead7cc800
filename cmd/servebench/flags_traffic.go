package main

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics/pyjson"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/settings"
	"github.com/servebench/servebench/metrics"
)

// trafficFlags say when requests are sent.
type trafficFlags struct {
	*options
	rampUpStrategy string // empty for none
	rampUpStart    *int
	rampUpEnd      *int
	readyCheck     int // seconds
}

func (g *trafficFlags) define(f *argv.Flags) {
	t := &g.Plan.Traffic
	f.Var(argv.Parsed(&t.RequestRate, "inf", argv.ParseFloat), "request-rate",
		"`RATE` requests per second. inf sends all at once")
	f.Var(argv.Parsed(&t.Burstiness, "1.0", argv.ParseFloat), "burstiness",
		"`SHAPE` shape of the gamma distribution of the gaps between requests. 1 is Poisson, less is burstier, inf is even")
	f.Var(argv.Parsed(&t.Rule, string(arrivals.SinceV010), parseRule), "arrival-rule",
		"`RULE` release of vLLM whose arrival times are used. Up to 0.9.2 the first request was due at 0, and gaps were "+
			"used as drawn")
	f.Var(argv.Optional(&t.MaxConcurrency, argv.ParseInt), "max-concurrency",
		"`N` most requests in flight at a time (default no limit)")
	f.StringVar(&g.rampUpStrategy, "ramp-up-strategy", "",
		"`NAME` raise the request rate over the run, instead of --request-rate")
	f.Var(argv.Optional(&g.rampUpStart, argv.ParseInt), "ramp-up-start-rps",
		"`RATE` first rate of the ramp, in requests per second")
	f.Var(argv.Optional(&g.rampUpEnd, argv.ParseInt), "ramp-up-end-rps",
		"`RATE` last rate of the ramp, in requests per second")
	f.Var(argv.Parsed(&t.Curve, "", arrivals.ParseCurve), "rate-curve",
		"`SPEC` a rate that changes over time, instead of --request-rate. The forms are "+arrivals.CurveForms)
	f.Var(argv.Parsed(&t.Duration, "0", argv.ParseSeconds), "duration",
		"`TIME` stop sending after this time, in seconds or as 90s, 5m; 0 means no limit. Without --num-prompts the run "+
			"has as many requests as fit")
	f.Var(argv.Parsed(&t.WarmUp, "0", argv.ParseSeconds), "warmup-duration",
		"`TIME` run the same load this long before measuring, in seconds or as 30s. The measured load follows without a "+
			"break")
	f.IntVar(&t.Warmups, "num-warmups", 0, "`N` requests to send before the measured ones")
	f.IntVar(&g.readyCheck, "ready-check-timeout-sec", 0,
		"`SECONDS` wait this long for the server to come up. 0 does not wait")
	f.Var(argv.Parsed(&t.Delay, "0", argv.ParseSeconds), "delay",
		"`TIME` wait this long before the first request, in seconds or as 500ms; for use in a --target")
	f.Float64Var(&t.ProbeRate, "probe-request-rate", 0,
		"`RATE` also send requests of one token, one after another, with a pause of 1/RATE seconds between. 0 sends none")
	f.IntVar(&t.Retries, "retries", 0, "`N` resend a failed request up to N times. Only failures before the first "+
		"chunk are retried, such as a refused connection or status 503; latency counts from the first attempt")
	f.IntVar(&t.SleepFirst, "sleep-first", 0, "`LEVEL` put vLLM to sleep before the load, wake it up and measure that. "+
		"Level 1 keeps the weights in the host's memory, level 2 drops them; 0 does nothing")
	f.BoolVar(&g.Plan.Watch.Profile, "profile", false,
		"have the server profile the run, by its /start_profile and /stop_profile")
	f.BoolVar(&t.Warm, "warm-connections", false,
		"open connections before the requests that need them, so that TTFT does not include connecting")
	f.Offer("request-rate", "inf")
	f.Offer("rate-curve", "step:", "sine:")
	f.Choices("arrival-rule", string(arrivals.SinceV010), string(arrivals.UpToV092))
	f.Choices("ramp-up-strategy", "linear", "exponential")
}

// maxRetries is far more than makes sense in a measurement.
const maxRetries = 1000

func parseRule(name string) (arrivals.Rule, error) { return arrivals.Rule(name), nil }

func (g *trafficFlags) resolve(*argv.Flags) error {
	t := &g.Plan.Traffic
	switch {
	case t.MaxConcurrency != nil && *t.MaxConcurrency <= 0:
		return errors.New("--max-concurrency must be greater than 0")
	case !(t.RequestRate > 0):
		return fmt.Errorf("argument --request-rate: %s: it must be greater than 0, or inf",
			metrics.FormatFloat(t.RequestRate))
	case !(t.Burstiness > 0):
		return fmt.Errorf("argument --burstiness: %s: it must be greater than 0, or inf", metrics.FormatFloat(t.Burstiness))
	case t.SleepFirst < 0 || t.SleepFirst > 2:
		return fmt.Errorf("argument --sleep-first: %d: it must be level 1 or 2, or 0 for none", t.SleepFirst)
	case t.Warmups < 0:
		return fmt.Errorf("argument --num-warmups: %d: it must not be negative", t.Warmups)
	case t.Retries < 0 || t.Retries > maxRetries:
		return fmt.Errorf("argument --retries: %d: it must be from 0 to %d", t.Retries, maxRetries)
	case g.readyCheck < 0:
		return fmt.Errorf("argument --ready-check-timeout-sec: %d: it must not be negative", g.readyCheck)
	case !(t.ProbeRate >= 0) || math.IsInf(t.ProbeRate, 1):
		return fmt.Errorf("argument --probe-request-rate: %s: it must be a number of requests a second, or 0 for none",
			metrics.FormatFloat(t.ProbeRate))
	}
	t.ReadyCheck = time.Duration(g.readyCheck) * time.Second
	if err := g.checkCurve(); err != nil {
		return err
	}
	if g.rampUpStrategy != "" && t.Rule == arrivals.UpToV092 {
		return errors.New("--arrival-rule 0.9.2 knows no --ramp-up-strategy")
	}
	if g.rampUpStrategy != "" {
		return g.resolveRampUp()
	}
	if g.rampUpStart != nil || g.rampUpEnd != nil {
		return errors.New("--ramp-up-start-rps and --ramp-up-end-rps need --ramp-up-strategy linear or exponential")
	}
	return nil
}

func (g *trafficFlags) resolveRampUp() error {
	problem := ""
	start, end := g.rampUpStart, g.rampUpEnd
	switch {
	case !math.IsInf(g.Plan.Traffic.RequestRate, 1):
		problem = "When using ramp-up, do not specify --request-rate. The request rate will be controlled by " +
			"ramp-up parameters. Please remove the --request-rate argument."
	case start == nil || end == nil:
		problem = "When using --ramp-up-strategy, both --ramp-up-start-rps and --ramp-up-end-rps must be specified"
	case *start < 0 || *end < 0:
		problem = "Ramp-up start and end RPS must be non-negative"
	case *start > *end:
		problem = "Ramp-up start RPS must be less than end RPS"
	case *start == 0 && g.rampUpStrategy == "exponential":
		problem = "For exponential ramp-up, the start RPS cannot be 0."
	case *start == 0:
		problem = "the start RPS cannot be 0: the first request would never be sent"
	default:
		g.Plan.Traffic.RampUp = &metrics.RampUp{Strategy: g.rampUpStrategy, Start: *start, End: *end}
		return nil
	}
	return fmt.Errorf("argument --ramp-up-strategy: %s", problem)
}

// checkCurve refuses a curve together with another rate.
func (g *trafficFlags) checkCurve() error {
	t := &g.Plan.Traffic
	switch {
	case t.Curve == nil:
		return nil
	case !math.IsInf(t.RequestRate, 1):
		return errors.New("argument --rate-curve: it takes the place of --request-rate: give one of the two")
	case g.rampUpStrategy != "":
		return errors.New("argument --rate-curve: it takes the place of --ramp-up-strategy: give one of the two")
	case t.Rule == arrivals.UpToV092:
		return fmt.Errorf("argument --rate-curve: --arrival-rule %s knows none", t.Rule)
	}
	return nil
}

// shardFlags are for a run that several machines share.
type shardFlags struct{ *options }

func (g *shardFlags) define(f *argv.Flags) {
	s := &g.Plan.Shard
	f.Func("shard", "`I/N` send part I, from 0, of a run that N machines share; none sends all (default what Slurm or "+
		"a Job of servebench shard says)", func(text string) (err error) {
		g.ShardGiven = true
		s.Shard, err = settings.ParseShard(text)
		return err
	})
	f.Var(argv.Parsed(&s.StartAt, "", parseInstant), "start-at",
		"`TIME` when the load starts, on all shards, as 2026-11-22T02:15:00.5Z or in Unix seconds")
	f.Var(argv.Parsed(&s.RunID, "", settings.ParseRunID), "run-id",
		"`TEXT` id of the run, the same for all shards (default Slurm's job and step, or made from --start-at and the flags)")
	f.Var(argv.Optional(&s.ClockOffset, parseOffset), "clock-offset",
		"`TIME` how far this machine's clock is ahead of the reference, as --clock-offset=-0.3ms (default what the system "+
			"knows)")
}

var unixSeconds = regexp.MustCompile(`^(\d{1,11})(?:\.(\d{1,9})\d*)?$`)

// parseInstant reads a point in time to the nanosecond.
func parseInstant(text string) (time.Time, error) {
	if m := unixSeconds.FindStringSubmatch(text); m != nil {
		seconds, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			return time.Time{}, err
		}
		nanos, err := strconv.ParseInt(m[2]+strings.Repeat("0", 9-len(m[2])), 10, 64)
		return time.Unix(seconds, nanos).UTC(), err
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return at, fmt.Errorf("invalid time: %s: it must be as 2026-11-22T02:15:00.5Z, or in seconds since 1970",
			pyjson.Quote(text))
	}
	return at.UTC(), nil
}

// maxOffset is how wrong a clock may be.
const maxOffset = 366 * 24 * time.Hour

// parseOffset reads a time that may be negative.
func parseOffset(text string) (time.Duration, error) {
	digits, negative := strings.CutPrefix(strings.TrimSpace(text), "-")
	d, err := argv.ParseSeconds(digits)
	seconds, notNumber := argv.ParseFloat(digits) // if there are too many, parseSeconds returns 0
	if err != nil || d > maxOffset || notNumber == nil && seconds > maxOffset.Seconds() {
		return 0, fmt.Errorf("invalid offset: %s: it must be seconds, or a number with a unit as in -0.3ms",
			pyjson.Quote(text))
	}
	if negative {
		d = -d
	}
	return d, nil
}
