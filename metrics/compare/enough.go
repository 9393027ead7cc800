package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/stats"
)

// This file finds the comparisons that have too little evidence, or evidence of a drift.

// tooFew says which loads have too few units to decide on all gated numbers.
func (j *judge) tooFew() {
	said := map[string]bool{}
	for i := range j.Points {
		p := &j.Points[i]
		if len(p.Old) == 0 || len(p.New) == 0 || len(j.gate.Limits) == 0 {
			continue
		}
		if why := j.tooFewUnits(p); why != "" && !said[why] {
			said[why] = true
			j.doubt(nil, "%s", why)
		}
	}
}

// tooFewUnits says that a point has too few units, and what to do; empty if it has enough.
func (j *judge) tooFewUnits(p *Point) string {
	if why := p.tooFewSessions(j.gate); why != "" || p.Design == Chain {
		return why
	}
	if p.unit == gating.PerRun {
		return j.lacking(p)
	}
	runs := *p
	runs.arrange(&gating.Gate{Unit: gating.PerRun})
	tooFew, old, new := j.lacking(&runs), len(p.old), len(p.new)
	switch {
	case slices.ContainsFunc(slices.Concat(p.Old, p.New), (*brief.Run).Unplaced):
		return cmp.Or(tooFew, "the runs do not say on which start of a server they were: --unit run takes each run for "+
			"itself, and decides on these processes only")
	case tooFew != "" || min(old, new) > 1:
		return j.lacking(p)
	case max(old, new) == 1:
		return "one server start a side: --unit run decides on these two processes only"
	}
	return fmt.Sprintf("one server start on the %s side: --unit run decides on these processes only",
		map[bool]string{true: "old", false: "new"}[old == 1])
}

// lacking says how many units a point has and how many it takes; empty if it has enough.
func (j *judge) lacking(p *Point) string {
	old, new := p.Units()
	needed, tests := p.Design.Needs(j.gate, len(j.Points)), len(j.gate.Limits)*len(j.Points)
	if min(old, new) >= needed || p.Design == InTurns && stats.LeastP(old, new) <= j.Alpha/float64(tests) {
		return ""
	}
	have := fmt.Sprintf("too few %s: %d old and %d new", p.noun(2), old, new)
	switch p.Design {
	case InPairs:
		return fmt.Sprintf("too few runs: %d %s; it takes at least %d", old, p.noun(old), needed)
	case InTurns:
		gated := metrics.Counted(tests, "gated number")
		if len(j.Points) > 1 {
			gated += fmt.Sprintf(" (%d for each of %d loads)", len(j.gate.Limits), len(j.Points))
		}
		return fmt.Sprintf("%s; %s take at least %d %s", have, gated, needed, p.aSide(needed))
	}
	return fmt.Sprintf("%s; one side after the other takes at least %d %s, and a sweep of both %d pairs", have, needed,
		p.aSide(needed), LeastPairs)
}

// drifts doubts the point if the numbers of both sides, one after the other, drift in the same
// direction: what looks like a change may be more of the drift. A drift below the margin moves the
// sides apart by less than half of it, and needs no doubt: in one of seven comparisons of three numbers,
// chance alone makes one look as if it drifted.
func (j *judge) drifts(p *Point) {
	for i := range p.Rows {
		r := &p.Rows[i]
		old, new := p.Units()
		trend := r.Evidence.trend
		whole := trend.Value * float64(old+new)
		if !r.Judgement.due() || math.Abs(whole) < max(leastDrift, r.Limit()) ||
			2*min(trend.Above(0), trend.Below(0)) > 1-Confidence {
			continue
		}
		j.doubt(p, "%s drifts by %s from the first run to the last, on both sides alike, so the order of the sides may be "+
			"the difference: run the arms in turns, as servebench sweep does",
			r.Number.Name, Percent(r.Evidence.scale.Share(whole)))
	}
}

// leastDrift is the least distance that is more than the rounding of numbers.
const leastDrift = 1e-9

// steps doubts the point if a number of a side that runs in one piece changes at one moment: what changed
// it may have changed the other side as well, or be the difference. A step below the margin needs no
// doubt.
func (j *judge) steps(p *Point) {
	for i := range p.Rows {
		r := &p.Rows[i]
		step := r.Evidence.step
		if !r.Judgement.due() || math.Abs(step.Value) < max(leastDrift, r.Limit()) || step.P > stepLevel {
			continue
		}
		side := [...]string{"old", "new"}[step.In]
		j.doubt(p, "%s changes by %s between %s %s %d and %d, although the side stays the same: what changed it there may "+
			"be the difference of the sides, too: run the arms in turns, as servebench sweep does",
			r.Number.Name, Percent(r.Evidence.scale.Share(step.Value)), side, p.noun(2), step.At, step.At+1)
	}
}

// stepLevel is how often chance alone may make a step of a number within a side. It is low: a moment at
// which the machine changed is far clearer, and each doubt without a reason is a verdict lost.
const stepLevel = 0.01
