package main

import (
	"fmt"
	"math"
	"strconv"

	"github.com/servebench/servebench/loadgen/sweep"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
)

// enough refuses a search whose probes have too few values for a percentile of its
// limits, as far as that is known of the first probe at the lowest value.
func enough(s *sweep.Search, o *options) error {
	for _, l := range s.Limits {
		p, ok := l.Percentile()
		if !ok {
			continue
		}
		needed := metrics.ValuesNeeded(p)
		for _, target := range o.all() {
			if why := target.tooFew(l, needed); why != "" {
				return fmt.Errorf("until: slo: %s needs %s", l.Name(), why)
			}
		}
	}
	return nil
}

// tooFew says what a limit needs that a run does not have, "" where it may have it.
func (o *options) tooFew(l sweep.Limit, needed int) string {
	n, from := o.requests()
	values := n
	switch longest := o.longestAnswer(); {
	case l.Metric != "itl":
	case longest <= 0:
		return ""
	default:
		if values = n * (longest - 1); values < needed {
			return fmt.Sprintf("%s gaps between tokens a probe, and %s with answers of %d tokens has %s at most",
				thousands(needed), from, longest, thousands(values))
		}
	}
	if values < needed {
		return fmt.Sprintf("%s requests a probe, %s", thousands(needed), from)
	}
	return ""
}

// requests are how many a run has at most, with what says so; math.MaxInt32 where its
// server decides.
func (o *options) requests() (n int, from string) {
	t := &o.Traffic
	n, from = o.Workload.NumPrompts, fmt.Sprintf("num-prompts is %d", o.Workload.NumPrompts)
	switch {
	case o.Endless() || t.Curve != nil:
		return math.MaxInt32, ""
	case t.Duration == 0 || math.IsInf(t.RequestRate, 1) || o.Workload.SelfTimed || t.RampUp != nil:
	default:
		if sent := t.RequestRate * t.Duration.Seconds(); o.Timed() || sent < float64(n) {
			n, from = int(min(sent, math.MaxInt32)), fmt.Sprintf("request-rate %g for %s sends %.0f", t.RequestRate, t.Duration, sent)
		}
	}
	return n, from
}

// longestAnswer is how many tokens an answer has at most, 0 where the dataset decides.
func (o *options) longestAnswer() int {
	if o.Workload.Dataset != "random" {
		return 0
	}
	r := &o.Workload.Random
	return int(math.Ceil(float64(r.OutputLen) * (1 + r.Ratio.Output)))
}

// thousands writes a number with a comma before each three digits.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// foundBy says what a search came to.
func foundBy(s *sweep.Search, f sweep.Found) string {
	probes := func(v sweep.Votes) string { return fmt.Sprintf("%d of %s", v.Passed, count(v.Of, "probe")) }
	switch {
	case math.IsNaN(f.Passes):
		return fmt.Sprintf("no %s from %g on passes (%s there): %s", s.Flag, s.From, probes(f.FailsBy), f.Why)
	case math.IsNaN(f.Fails):
		return fmt.Sprintf("every %s up to %g passes (%s there), and none above was tried", s.Flag, f.Passes, probes(f.PassesBy))
	}
	return fmt.Sprintf("%s %g passes (%s) and %g fails (%s): %s", s.Flag, f.Passes, probes(f.PassesBy), f.Fails, probes(f.FailsBy), f.Why)
}

// found is what the search of a cell came to as a line, "" before it is over.
func (r *sweepResult) found(cell sweep.Cell) string {
	if r.plan.Search == nil {
		return ""
	}
	f, known := r.sweep.Found(cell)
	if !known {
		return ""
	}
	return r.plan.Describe(cell) + ": " + foundBy(r.plan.Search, f)
}

// answers are what the searches came to, a line each in the order of the file.
func (r *sweepResult) answers() []string {
	var lines []string
	for _, cell := range r.plan.Cells() {
		if line := r.found(cell); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// answer is the same of one cell as a member of its rows in JSON; nil before it is known.
func (r *sweepResult) answer(cell sweep.Cell) pyjson.Object {
	if r.plan.Search == nil {
		return nil
	}
	f, known := r.sweep.Found(cell)
	if !known {
		return nil
	}
	at := func(value float64, v sweep.Votes) any {
		if math.IsNaN(value) {
			return nil
		}
		return pyjson.Object{{Key: "value", Value: value}, {Key: "passed", Value: v.Passed}, {Key: "probes", Value: v.Of}}
	}
	return pyjson.Object{{Key: "search", Value: pyjson.Object{
		{Key: "flag", Value: r.plan.Search.Flag}, {Key: "passes", Value: at(f.Passes, f.PassesBy)}, {Key: "fails", Value: at(f.Fails, f.FailsBy)},
		{Key: "why", Value: f.Why}, {Key: "text", Value: foundBy(r.plan.Search, f)},
	}}}
}
