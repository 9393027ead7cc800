package trust

import (
	"fmt"
	"math"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/backlog"
	"github.com/servebench/servebench/metrics/aspect/pace"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/course"
	"github.com/servebench/servebench/metrics/verdict"
)

// This file notes how a run went: whether it was steady, and whether its load was what the flags say.

// noteCourse notes that the run has parts, or kinds of answers, that differ: a mean says nothing of either.
func (j *judge) noteCourse(n *notes) {
	c := j.run.Truth.Course
	if backlog, found := j.backlog(); c == nil || found && !backlog.Fine() {
		return
	}
	if change := c.Change; change != nil {
		n.add(true, "the run was not steady: latencies changed at %.1f s, after %s. Before: %s; after: %s",
			(change.At - j.run.When.Began).Seconds(), metrics.Counted(change.Requests, "request"),
			showStretch(change.Before), showStretch(change.After))
	}
	if m := c.Modes; m != nil {
		n.add(true, "the answers have two kinds: %.0f %% take %s a chunk, and %.0f %% take %s: do two servers, or two "+
			"kinds of requests, share this load?",
			100*(1-m.Share), verdict.ShowMS(m.Fast), 100*m.Share, verdict.ShowMS(m.Slow))
	}
	n.add(c.Quick > 1 && backlog.Of(j.run).Late == 0 && verdict.Percent(c.Quick, c.Of) > quickNoted,
		"%d of %s were complete within %s (median), before a quarter of the median TTFT had passed: are they errors sent "+
			"as text, or from a cache? --save-detailed has their texts",
		c.Quick, metrics.Counted(c.Of, "answer"), verdict.ShowMS(metrics.Milliseconds(c.Quickest)))
}

// showStretch writes the numbers of a part of a run.
func showStretch(s course.Stretch) string {
	text := "mean TTFT " + verdict.ShowMS(s.TTFT)
	if s.TPOT > 0 {
		text += ", " + verdict.ShowMS(s.TPOT) + " a chunk"
	}
	return text + fmt.Sprintf(", %s req/s", verdict.ShowDigits(s.Rate))
}

// noteLoad notes that the load never was what the flags say, because the run was too short for it.
func (j *judge) noteLoad(n *notes) {
	c, sent := &j.run.Header.Config, pace.Of(j.run)
	if sessions.Of(j.run) != nil || j.run.Ending.Interrupted || j.run.Completed == 0 {
		return
	}
	closed := c.MaxConcurrency > 1 && math.IsInf(c.RequestRate, 1) && !c.Paced()
	used := 100 * j.run.Truth.MeanConcurrency / float64(max(c.MaxConcurrency, 1))
	n.add(closed && used < usedNoted, "%.1f of the %d slots of --max-concurrency were in use on average, and %d at "+
		"most: the numbers are of a smaller load. Take %d requests or more",
		j.run.Truth.MeanConcurrency, c.MaxConcurrency, j.run.Truth.PeakConcurrency, 10*c.MaxConcurrency)
	due := metrics.Milliseconds(sent.Due)
	n.add(c.Even() && sent.Requests > 1 && due < mean(&j.run.E2EL),
		"all %s were due within %s, and an answer takes %s: the server never had the load of this rate, and throughput is "+
			"of the wait for the last answers. Take %.0f requests or more",
		metrics.Counted(sent.Requests, "request"), verdict.ShowMS(due), verdict.ShowMS(j.run.E2EL.Mean()),
		math.Ceil(10*sent.Asked()*j.run.E2EL.Mean()/1000))
}
