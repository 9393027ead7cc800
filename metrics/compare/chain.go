package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/numpy"
	"github.com/servebench/servebench/metrics/stats"
)

// This file compares runs with a baseline of several sessions, such as days. A session is one piece of
// evidence, however many runs it has: what differs from day to day is the same in all of them.

// leastSessions is how many sessions show how much sessions differ.
const leastSessions = 4

// The alpha of the gate is for two questions: whether the new runs are worse than the sessions were,
// and whether all together got slowly worse. The shares are fixed, so that neither error is for the
// other to spend.
const (
	stepShare  = 0.8
	trendShare = 0.2
)

// sessions are the runs of a baseline by session, in the order of time; nil for other runs.
func sessions(runs []*brief.Run) (all [][]*brief.Run) {
	names, by := metrics.By(ByUnit(runs, gating.PerRun), func(unit []*brief.Run) string { return unit[0].Session })
	for _, name := range names {
		if name == "" {
			return nil
		}
		all = append(all, slices.Concat(by[name]...))
	}
	return all
}

// sessions are the sessions of the point's baseline, in the order of time; nil without one. Sessions on
// one start of a server are one: they do not show how much starts differ. If the new runs are on that
// start, too, or not made yet, there is no other start to differ.
func (s *Sides) sessions() (all [][]*brief.Run) {
	onNew := func(r *brief.Run) bool {
		return slices.ContainsFunc(s.New, func(n *brief.Run) bool { return n.Start == r.Start })
	}
	for _, next := range sessions(s.Old) {
		joins := func(known []*brief.Run) bool {
			return slices.ContainsFunc(known, func(a *brief.Run) bool {
				return !a.Unplaced() && !onNew(a) &&
					slices.ContainsFunc(next, func(b *brief.Run) bool { return a.Start == b.Start })
			})
		}
		if i := slices.IndexFunc(all, joins); i >= 0 && s.New != nil {
			all[i] = append(all[i], next...)
		} else {
			all = append(all, next)
		}
	}
	return all
}

// tooFewSessions says that the baseline does not show how much sessions differ, "" if it does, or if
// the gate does not ask.
func (s *Sides) tooFewSessions(gate *gating.Gate) string {
	kept, n := len(sessions(s.Old)), len(s.sessions())
	if n == 0 || n >= leastSessions || gate.Unit != "" {
		return ""
	}
	has, differ, these := metrics.Counted(n, "session"), "days differ", "these sessions"
	if kept == 1 {
		these = "this session"
	}
	if kept > n {
		has = fmt.Sprintf("%s, of which %d count, since sessions on one start of a server are one",
			metrics.Counted(kept, "session"), n)
		differ = "starts differ"
	}
	return fmt.Sprintf("the baseline has %s: how much %s is unknown, and shows from %d on; --unit start or --unit run "+
		"decides on %s only",
		has, differ, leastSessions, these)
}

// A course is one number of a baseline's sessions, and of the new runs as the last one, if there are any.
type course struct {
	scale  stats.Scale
	names  []string    // of the sessions
	values [][]float64 // of the starts of a session; of the runs, if it has one start or nobody knows
	means  []float64
}

// course is a number in the order of time, nil if a run does not have it.
func (s *Sides) course(m *metrics.Number) *course {
	all := s.values(m, slices.Concat(s.Old, s.New))
	if all == nil {
		return nil
	}
	scale := stats.ScaleOf(m.Better == metrics.Higher, s.values(m, s.Old), all, numpy.Mean)
	c := s.courseOf(func(runs []*brief.Run) float64 { return scale.Mean(s.values(m, runs)) })
	c.scale = scale
	return c
}

// courseOf is a value of runs in the order of time.
func (s *Sides) courseOf(value func([]*brief.Run) float64) *course {
	var c course
	for _, runs := range append(s.sessions(), s.New) {
		if len(runs) == 0 {
			continue
		}
		within := ByUnit(runs, gating.PerStart)
		if len(within) == 1 {
			within = ByUnit(runs, gating.PerRun)
		}
		var values []float64
		for _, unit := range within {
			values = append(values, value(unit))
		}
		c.names = append(c.names, runs[0].Session)
		c.values = append(c.values, values)
		c.means = append(c.means, numpy.Mean(values))
	}
	return &c
}

// deviations are the standard deviations of the course in words.
func (s *course) deviations() string {
	variance, n, parts := 0.0, 0, []string(nil)
	for _, values := range s.values {
		if len(values) > 1 {
			variance += math.Pow(numpy.SampleStd(values), 2)
			n++
		}
	}
	if n > 0 {
		parts = append(parts, fmt.Sprintf("%.1f %% within a session", math.Sqrt(variance/float64(n))*100))
	}
	if len(s.means) > 1 {
		parts = append(parts, fmt.Sprintf("%.1f %% between sessions", numpy.SampleStd(s.means)*100))
	}
	return strings.Join(parts, ", ")
}

// unseen is the largest change for the worse that another session may have by chance.
func (s *course) unseen() float64 {
	next := stats.Next(s.values, s.values[len(s.values)-1])
	return next.Upper(1-Confidence) - next.Value
}

// unseenAmongRuns is the same for runs that come after these and are as many, if too few sessions are
// there to say how much sessions differ. Infinite for fewer than two runs.
func (s *course) unseenAmongRuns() float64 {
	var values []float64
	for _, session := range s.values {
		values = append(values, session...)
	}
	n := float64(len(values))
	if n < 2 {
		return math.Inf(1)
	}
	return stats.Estimate{Err: numpy.SampleStd(values) * math.Sqrt(2/n), DF: stats.BatchesDF}.Upper(1 - Confidence)
}

// A shift is a change of a course with a session.
type shift struct {
	session string
	change  float64 // share of what was before
	stats.Change
}

func (s shift) String() string {
	return fmt.Sprintf("changed by %s with the baseline session of %s (%s)", Percent(s.change), s.session, likely(s.P))
}

// steps are where the course changes, at a level.
func (s *course) steps(alpha float64) (found []shift) {
	changes := stats.Changes(s.means, alpha)
	for i, c := range changes {
		from, to := 0, len(s.means)
		if i > 0 {
			from = changes[i-1].At
		}
		if i+1 < len(changes) {
			to = changes[i+1].At
		}
		distance := numpy.Mean(s.means[c.At:to]) - numpy.Mean(s.means[from:c.At])
		found = append(found, shift{s.names[c.At], s.scale.Share(distance), c})
	}
	return found
}

// slower finds a slow change for the worse, over the sessions and the new runs.
func (j *judge) slower(p *Point, r *Row) bool {
	if p.Design != Chain {
		return false
	}
	whole := r.slowing.trend[0].Value
	if r.slowing.chance > j.Alpha || whole <= r.Limit() {
		return false
	}
	j.regress(p, "%s got worse slowly: %s from the baseline session of %s to the new runs (margin %.3g %%; %s)",
		r.Number.Name, Percent(r.Evidence.scale.Share(whole)), p.old[0][0].Session, r.Judgement.Margin*100,
		likely(r.slowing.chance))
	j.advise("a slow change may be the machine's: measure the server of the first session again, in turns with the new " +
		"one")
	return true
}

// sessions notes where the gated numbers of a baseline changed, and whether its sessions are
// of one day.
func (m *remarks) sessions() {
	if m.p.Design != Chain {
		return
	}
	for _, l := range m.gate.Limits {
		s := m.p.course(&l.Number)
		if s == nil {
			continue
		}
		for _, at := range s.steps(m.alpha / float64(len(m.gate.Limits)*m.loads)) {
			m.note("%s %s", l.Number.Name, at)
			m.reasons.advise("if a change within the baseline is to stay, begin a new baseline: the sessions before it make " +
				"this one too noisy")
		}
	}
	if text := oneDay(m.p.old); text != "" {
		m.note("%s", text)
	}
}

// likely is a p value as in a sentence.
func likely(p float64) string {
	if p < 0.001 {
		return "p<0.001"
	}
	return fmt.Sprintf("p=%.3f", p)
}

// oneDay says that sessions were within a day, "" if they were not, or if nobody knows.
func oneDay(all [][]*brief.Run) string {
	first, last := all[0][0].Began, all[len(all)-1][0].Began
	if first.IsZero() || last.Sub(first) >= 24*time.Hour {
		return ""
	}
	return fmt.Sprintf("the %d baseline sessions are of one day, so they do not show how much days differ", len(all))
}
