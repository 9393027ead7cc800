// Package trust says whether the numbers of a run can be believed.
//
// Judge holds a Summary's own numbers, its Truth and its Evidence against limits: was
// the load what was asked for, did the server answer it, and did the load generator
// measure in time? Each check is a figure, its limit and a text. One that fails makes
// the run SUSPECT, and a backlog that grew makes it OVERLOADED. The limits are set so
// that an ordinary run on a busy laptop keeps to them, and each says what it is for.
// What accuses nobody is a note.
package trust

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
)

// fine says whether a check's figure keeps to its limit.
func fine(c metrics.Check) bool {
	if c.AtLeast {
		return c.Figure >= c.Limit
	}
	return c.Figure <= c.Limit
}

// explained is c with its limit in its text, where it failed and the text does not say it.
func explained(c metrics.Check) metrics.Check {
	if !c.OK && !c.AtLeast && (c.Unit == "ms" || c.Unit == "%") {
		c.Text += fmt.Sprintf(" (limit %s %s)", showDigits(c.Limit), c.Unit)
	}
	return c
}

// Judge fills s.Trust from s.Truth, s.Evidence, s.Age and the Summary's own
// numbers, and may be called again when they have changed. Trust is nil for a
// Summary of a result file or a block: there is nothing to judge.
func Judge(s *metrics.Summary) {
	if s.Truth == nil {
		s.Trust = nil
		return
	}
	j := judge{Summary: s, seen: s.Evidence}
	if j.seen == nil {
		j.seen = new(metrics.Evidence)
	}
	t := &metrics.Trust{Verdict: metrics.Valid, Notes: j.notes(), Warnings: j.warnings()}
	for _, find := range checks {
		c, found := find(&j)
		if !found {
			continue
		}
		c.OK = fine(c)
		t.Checks = append(t.Checks, explained(c))
		switch {
		case c.OK || t.Verdict == metrics.Suspect:
		case c.Name == metrics.BacklogCheck:
			t.Verdict = metrics.Overloaded
		default:
			t.Verdict = metrics.Suspect
		}
	}
	s.Trust = t
}

// checks are all that there are, those first that make a run worthless. Each
// says whether the run gave it something to judge by.
var checks = []func(*judge) (metrics.Check, bool){
	(*judge).completed, (*judge).whole, (*judge).shards, (*judge).shardStarts, (*judge).failed, (*judge).cutShort, (*judge).answers, (*judge).tokenCounts, (*judge).streaming, (*judge).firstToken, (*judge).exhausted, (*judge).backlog, (*judge).others, (*judge).rate, (*judge).lag,
	(*judge).age, (*judge).wakeUp, (*judge).sharedReads, (*judge).longestStop, (*judge).stopped,
	(*judge).busiestSecond, (*judge).meanCPU, (*judge).stolen, (*judge).longestGC, (*judge).gcShare, (*judge).clock,
	(*judge).little, (*judge).connecting, (*judge).lumpy, (*judge).prefixHits,
	(*judge).vouched,
}

// A judge looks at one Summary. What it has seen is never nil.
type judge struct {
	*metrics.Summary
	seen *metrics.Evidence
}

// itl is the mean inter-token latency in milliseconds, per token where that is
// known and else per chunk; 0 when there were no gaps.
func (j *judge) itl() float64 {
	if j.Truth.MeanITL > 0 {
		return j.Truth.MeanITL
	}
	if j.ITL.Len() == 0 {
		return 0
	}
	return j.ITL.Mean()
}

// watchedShare is a part of the time that the process was watched, in percent.
func (j *judge) watchedShare(d time.Duration) float64 { return percent(d, j.seen.Watched) }

// percent is 0 of nothing.
func percent[T int | int64 | time.Duration](part, whole T) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole) * 100
}
