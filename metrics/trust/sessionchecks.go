package trust

import (
	"fmt"
	"math"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/failures"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/verdict"
)

// This file checks sessions: were their turns sent when they should be, did they complete, and did
// the server see the prompts that it was to see?

// turns is how late we sent the turns that follow others: of two figures, the one that is further
// beyond its limit.
func (j *judge) turns() (verdict.Check, bool) {
	of := sessions.Of(j.run)
	if of == nil || of.Later.Lag.Len() == 0 {
		return verdict.Check{}, false
	}
	later := &of.Later
	c := verdict.Check{Name: "later turns", Figure: verdict.Percent(later.Late, later.Turns), Unit: "%", Limit: turnsLimit,
		Remedy: j.lateRemedy(quieter)}
	p99 := later.Lag.Percentile(99)
	c.Limit = max(c.Limit, verdict.Percent(turnsForgiven, later.Turns))
	c.Text = fmt.Sprintf("%s of later turns were sent more than %g ms late, p99 %s", verdict.ShowPercent(c.Figure),
		metrics.Milliseconds(sessions.LateTurn), verdict.ShowMS(p99))
	_, first := j.first()
	if limit := max(lagLimit, lagLimitOfTTFT*mean(first)); p99/limit > c.Figure/c.Limit {
		c.Figure, c.Unit, c.Limit = p99, "ms", limit
	}
	return c, true
}

// mean is d's mean, 0 without values.
func mean(d *metrics.Distribution) float64 {
	if d.Len() == 0 {
		return 0
	}
	return d.Mean()
}

// overflows finds requests that did not fit into the model's context.
func (j *judge) overflows() (verdict.Check, bool) {
	n, of := failures.Of(j.run).Requests(record.Overflow), j.run.Completed+failures.Uncut(j.run)
	c := verdict.Check{Name: "context overflow", Figure: verdict.Percent(n, of), Unit: "%", Limit: overflowLimit,
		Remedy: j.shorter() + ", or raise the server's limit"}
	c.Text = fmt.Sprintf("%d of %s did not fit into the model's context", n, metrics.Counted(of, "request"))
	return c, n > 0
}

// knownBefore is how many prompt tokens of first turns the server had in its prefix cache although no
// earlier prompt of the run has them, out of how many. Later turns find their own session's history
// there. It is false if nobody knows what prompts share.
func (j *judge) knownBefore() (hits, of int64, known bool) {
	s := sessions.Of(j.run)
	if s == nil || len(s.Rows) == 0 {
		return 0, 0, false
	}
	cache := s.Rows[0].Cache
	tokens := cache.Known()
	return int64(max(0, tokens.Reused-tokens.Reusable)), int64(tokens.Prompt), cache.Planned > 0 && tokens.Prompt > 0
}

// reused is how much the server had in its prefix cache of what it could reuse, 0 to 1.
func (j *judge) reused() (share float64, known bool) {
	s := sessions.Of(j.run)
	if s == nil {
		return 0, false
	}
	share = s.Cache.ReusedShare()
	return share, !math.IsNaN(share)
}

// waitsForSessionSlots reports that sessions waited for session slots more than turns for slots.
func (j *judge) waitsForSessionSlots() bool {
	s := sessions.Of(j.run)
	return s != nil && s.Parts.SessionSlots > s.Parts.Slots
}

// noteSessions notes what a reader of the sessions' numbers should know.
func (j *judge) noteSessions(n *notes) {
	s := sessions.Of(j.run)
	if s == nil {
		return
	}
	n.kept(sessions.CheckBroken(j.run))
	n.kept(sessions.CheckCut(j.run))
	n.kept(sessions.CheckGaps(j.run))
	n.add(s.Earlier > 0, "%s began before the measured part: their turns count, their job times do not",
		metrics.Counted(s.Earlier, "session"))
	waited, total := s.Parts.SessionSlots, s.Parts.Total()
	n.add(verdict.Percent(waited, total) > sessionSlotsNoted,
		"sessions waited for a session slot of %s, %s on average (%s of the job time): "+
			"a slow server delays their arrival, so read latencies from when turns were due",
		j.sessionSlotsFlag(), verdict.ShowMS(metrics.Milliseconds(waited/time.Duration(max(s.Completed, 1)))),
		verdict.ShowPercent(verdict.Percent(waited, total)))
	if reused, known := j.reused(); known && reused < reusedNoted {
		n.text(fmt.Sprintf("the server had %s of the prompt tokens in its prefix cache, %s of what it could reuse: the "+
			"cache is too small for the sessions in progress, "+
			"or a router sends their turns to different servers", verdict.ShowPercent(100*s.Cache.CachedShare()),
			verdict.ShowPercent(100*reused)))
	}
}
