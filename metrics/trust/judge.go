// Package trust says whether to believe the numbers of a run.
//
// Judge compares a Summary's numbers, its Truth and its Evidence with limits. Was the load what was
// requested, did the server answer it, and did the load generator measure in time? Each check is a
// figure, its limit and a text. A check that fails makes the run SUSPECT, and a backlog that grew
// makes it OVERLOADED. The limits are such that an ordinary run on a busy laptop keeps them, and
// each limit says what it is for. Findings with no fault are notes.
package trust

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/counts"
	"github.com/servebench/servebench/metrics/aspect/delivery"
	"github.com/servebench/servebench/metrics/aspect/failures"
	"github.com/servebench/servebench/metrics/aspect/gpus"
	"github.com/servebench/servebench/metrics/aspect/lengths"
	"github.com/servebench/servebench/metrics/aspect/prompts"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/aspect/tokens"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/verdict"
)

// explained is c with its limit in its text, if it failed and the text does not have the limit.
func explained(c verdict.Check) verdict.Check {
	if !c.OK && !c.AtLeast && (c.Unit == "ms" || c.Unit == "%") {
		c.Text += fmt.Sprintf(" (limit %s %s)", verdict.ShowDigits(c.Limit), c.Unit)
	}
	return c
}

// Judge sets s.Trust from s.Truth, s.Evidence, s.Age and the Summary's numbers. Call it again when
// they have changed. Trust is nil for a Summary of a result file or a block, which have no data to
// judge, and for a simulated run.
func Judge(s *metrics.Summary) {
	if s.Truth == nil || s.Header.Simulated() {
		s.Trust = nil
		return
	}
	j := judge{run: s, seen: s.Evidence}
	if j.seen == nil {
		j.seen = new(evidence.Evidence)
	}
	t := &verdict.Trust{Verdict: verdict.Valid, Notes: j.notes(), Warnings: j.warnings()}
	for _, find := range checks {
		c, found := find(&j)
		if !found {
			continue
		}
		c.OK = c.Fine()
		t.Checks = append(t.Checks, explained(c))
		switch {
		case c.OK || t.Verdict == verdict.Suspect:
		case c.Name == verdict.BacklogCheck:
			t.Verdict = verdict.Overloaded
		default:
			t.Verdict = verdict.Suspect
		}
	}
	s.Trust = t
}

// checks are all checks, in order of weight: first those that make a run worthless. Each reports whether the run
// has data for it.
var checks = []func(*judge) (verdict.Check, bool){
	(*judge).completed, (*judge).whole, of(sessions.CheckOrder), (*judge).shards, (*judge).shardStarts, of(failures.Check),
	(*judge).overflows, of(sessions.CheckBroken), of(failures.CheckCut), of(sessions.CheckCut), (*judge).several,
	of(prompts.Check), of(lengths.Check), of(sessions.CheckHistory), of(counts.Check), (*judge).streaming,
	(*judge).firstToken, of(delivery.Check), (*judge).exhausted, (*judge).throttled, (*judge).others, (*judge).rate,
	(*judge).slots, of(sessions.CheckGaps), (*judge).lag, (*judge).turns, (*judge).sendDelay,
	(*judge).age, (*judge).wakeUp, (*judge).sharedReads, (*judge).longestStop, (*judge).stopped,
	(*judge).busiestSecond, (*judge).meanCPU, (*judge).stolen, (*judge).longestGC, (*judge).gcShare, (*judge).clock,
	(*judge).little, (*judge).connecting, (*judge).lumpy, (*judge).prefixHits,
	of(gpus.CheckSlowed), of(gpus.CheckCapped), (*judge).foreignProcesses, (*judge).mpsFaults, (*judge).mpsClients,
	(*judge).selftestCoverage,
	(*judge).backlog, // about the server; all others are about the measurement
}

// of is a check of an aspect.
func of(check func(*metrics.Summary) (verdict.Check, bool)) func(*judge) (verdict.Check, bool) {
	return func(j *judge) (verdict.Check, bool) { return check(j.run) }
}

// A judge looks at one run. seen is never nil.
type judge struct {
	run  *metrics.Summary
	seen *evidence.Evidence
}

// itl is the mean inter-token latency in milliseconds, per token if known and else per chunk; 0 if
// there were no gaps.
func (j *judge) itl() float64 {
	if mean := tokens.Of(j.run).MeanITL; mean > 0 {
		return mean
	}
	if j.run.ITL.Len() == 0 {
		return 0
	}
	return j.run.ITL.Mean()
}

// watchedShare is d as part of the time that the process was watched, in percent.
func (j *judge) watchedShare(d time.Duration) float64 { return verdict.Percent(d, j.seen.CPU.Watched) }
