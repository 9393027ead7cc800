package trust

import (
	"fmt"
	"math"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/prompts"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/verdict"
)

// This file checks sessions: were their turns sent when they should be, did they complete, and did
// the server see the prompts that it was to see?

// order finds turns that were sent before the answers that they wait for had come.
func (j *judge) order() (verdict.Check, bool) {
	of := sessions.Of(j.Summary)
	if of == nil {
		return verdict.Check{}, false
	}
	n := of.Later.Disordered
	c := verdict.Check{Name: "order", Figure: float64(n), Unit: "turns", Remedy: "report this as an error of servebench"}
	c.Text = metrics.Counted(n, "turn") + " sent before an answer that it waits for had ended"
	return c, n > 0
}

// turns is how late we sent the turns that follow others: of two figures, the one that is further
// beyond its limit.
func (j *judge) turns() (verdict.Check, bool) {
	of := sessions.Of(j.Summary)
	if of == nil || of.Later.Lag.Len() == 0 {
		return verdict.Check{}, false
	}
	later := &of.Later
	c := verdict.Check{Name: "later turns", Figure: verdict.Percent(later.Late, later.Turns), Unit: "%", Limit: turnsLimit,
		Remedy: j.lateRemedy(quieter)}
	p99 := later.Lag.Percentile(99)
	c.Limit = max(c.Limit, verdict.Percent(turnsForgiven, later.Turns))
	c.Text = fmt.Sprintf("%s of later turns were sent more than %g ms late, p99 %s", showPercent(c.Figure),
		metrics.Milliseconds(sessions.LateTurn), showMS(p99))
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

// brokenSessions are those with a turn that failed, so that others were never sent.
func (j *judge) brokenSessions() (verdict.Check, bool) {
	s := sessions.Of(j.Summary)
	if s == nil {
		return verdict.Check{}, false
	}
	n, of := s.BrokenAll(), s.BrokenAll()+s.Completed
	c := verdict.Check{Name: "broken sessions", Figure: verdict.Percent(n, of), Unit: "%", Limit: brokenLimit,
		Remedy: "read the errors"}
	c.Text = fmt.Sprintf("%d of %s broke, as a turn failed: job times leave these out", n, metrics.Counted(of, "session"))
	return c, n > 0
}

// cutSessions are those that had not ended when the run had.
func (j *judge) cutSessions() (verdict.Check, bool) {
	s := sessions.Of(j.Summary)
	if s == nil {
		return verdict.Check{}, false
	}
	c := verdict.Check{Name: "cut sessions", Figure: verdict.Percent(s.Cut, s.Begun), Unit: "%", Limit: cutSessionsLimit,
		Remedy: "let it run longer"}
	c.Text = fmt.Sprintf("%d of %s were cut: job times favor short sessions", s.Cut, metrics.Counted(s.Begun, "session"))
	return c, s.Cut > 0
}

// overflows finds requests that did not fit into the model's context.
func (j *judge) overflows() (verdict.Check, bool) {
	n, of := j.Classes[record.Overflow], j.Completed+j.Failures()
	c := verdict.Check{Name: "context overflow", Figure: verdict.Percent(n, of), Unit: "%", Limit: overflowLimit,
		Remedy: j.shorter() + ", or raise the server's limit"}
	c.Text = fmt.Sprintf("%d of %s did not fit into the model's context", n, metrics.Counted(of, "request"))
	return c, n > 0
}

// gapsKept finds gaps of a recording that the server's answers have eaten. Turns wait for their gaps
// unless the recording's times decide.
func (j *judge) gapsKept() (verdict.Check, bool) {
	of := sessions.Of(j.Summary)
	if of == nil {
		return verdict.Check{}, false
	}
	later := &of.Later
	c := verdict.Check{Name: "gaps", Figure: verdict.Percent(later.Vanished, later.Gaps), Unit: "%", Limit: gapsLimit,
		Remedy: "use --trace-timing think, a lower --trace-speed, or a faster server"}
	c.Text = fmt.Sprintf("%d of %s vanished: the answers took so long that the next turns were due at once",
		later.Vanished, metrics.Counted(later.Gaps, "gap"))
	return c, later.Vanished > 0
}

// history compares the prompts of later turns that the server counted with the dataset's.
func (j *judge) history() (verdict.Check, bool) {
	of := sessions.Of(j.Summary)
	if of == nil || of.Later.InDrift.Len() == 0 {
		return verdict.Check{}, false
	}
	in, out := &of.Later.InDrift, &of.Later.OutDrift
	c := verdict.Check{Name: "history", Figure: in.Median(), Unit: "%", Limit: max(historyLimit, j.template()),
		Remedy: "have the server answer with the lengths asked for (--ignore-eos), or check the chat template"}
	c.Text = fmt.Sprintf("prompts of later turns are %s longer or shorter than planned in the median, p95 %s",
		showPercent(c.Figure), showPercent(in.Percentile(95)))
	if out.Len() > 0 && !c.Fine() {
		c.Text += fmt.Sprintf("; answers %s, p95 %s", showPercent(out.Median()), showPercent(out.Percentile(95)))
	}
	return c, true
}

// template is how much a chat template may add to the prompts of later turns, in percent of what they
// are without it. A turn has its own message, and two for each turn before it.
func (j *judge) template() float64 {
	if !j.Header.Config.Traits.Templated {
		return 0
	}
	added, rest := 0.0, 0.0
	for i, r := range sessions.Of(j.Summary).Rows {
		from, to := sessions.RowTurns(i)
		if i == 0 || r.Completed == 0 {
			continue
		}
		more := float64(r.Completed) * float64(prompts.TemplateChat+prompts.TemplateMessage*(from+to-1))
		added, rest = added+more, rest+max(0, float64(r.Prompt)-more)
	}
	return 100 * added / max(rest, 1)
}

// knownBefore is how many prompt tokens of first turns the server had in its prefix cache although no
// earlier prompt of the run has them, out of how many. Later turns find their own session's history
// there. It is false if nobody knows what prompts share.
func (j *judge) knownBefore() (hits, of int64, known bool) {
	s := sessions.Of(j.Summary)
	if s == nil || len(s.Rows) == 0 {
		return 0, 0, false
	}
	cache := s.Rows[0].Cache
	tokens := cache.Known()
	return int64(max(0, tokens.Reused-tokens.Reusable)), int64(tokens.Prompt), cache.Planned > 0 && tokens.Prompt > 0
}

// reused is how much the server had in its prefix cache of what it could reuse, 0 to 1.
func (j *judge) reused() (share float64, known bool) {
	s := sessions.Of(j.Summary)
	if s == nil {
		return 0, false
	}
	share = s.Cache.ReusedShare()
	return share, !math.IsNaN(share)
}

// waitsForSessionSlots reports that sessions waited for session slots more than turns for slots.
func (j *judge) waitsForSessionSlots() bool {
	s := sessions.Of(j.Summary)
	return s != nil && s.Parts.SessionSlots > s.Parts.Slots
}

// noteSessions notes what a reader of the sessions' numbers should know.
func (j *judge) noteSessions(n *notes) {
	s := sessions.Of(j.Summary)
	if s == nil {
		return
	}
	n.kept(j.brokenSessions())
	n.kept(j.cutSessions())
	n.kept(j.gapsKept())
	n.add(s.Earlier > 0, "%s began before the measured part: their turns count, their job times do not",
		metrics.Counted(s.Earlier, "session"))
	waited, total := s.Parts.SessionSlots, s.Parts.Total()
	n.add(verdict.Percent(waited, total) > sessionSlotsNoted,
		"sessions waited for a session slot of %s, %s on average (%s of the job time): "+
			"a slow server delays their arrival, so read latencies from when turns were due",
		j.sessionSlotsFlag(), showMS(metrics.Milliseconds(waited/time.Duration(max(s.Completed, 1)))),
		showPercent(verdict.Percent(waited, total)))
	if reused, known := j.reused(); known && reused < reusedNoted {
		n.text(fmt.Sprintf("the server had %s of the prompt tokens in its prefix cache, %s of what it could reuse: the "+
			"cache is too small for the sessions in progress, "+
			"or a router sends their turns to different servers", showPercent(100*s.Cache.CachedShare()),
			showPercent(100*reused)))
	}
}
