package plot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/record"
)

// How many sessions the timeline shows, and how much of them.
const (
	mostSessions  = 24
	leastSessions = 6 // if sessions have many turns
	mostAgents    = 5 // rows of one session
	mostTurns     = 1500
)

// The palette's colors of the parts of a session that no request has.
const (
	sessionSlotColor = 6
	personColor      = 2
	toolColor        = 4
)

// A sessionBar is one of several turns.
type sessionBar struct {
	key        sessionKey
	begun, end time.Duration
	turns, of  int  // that are there, and that it has
	failed     bool // a turn failed
}

// A sessionKey distinguishes the sessions of a run.
type sessionKey struct {
	index int
	early bool // it began in the warm-up
}

func keyOf(r *record.Record) sessionKey { return sessionKey{r.Index, r.Session.Early} }

// barsOf are the measured sessions of several turns, the shortest first.
func barsOf(r Run) (all []sessionBar) {
	at := map[sessionKey]int{}
	for rec := range r.Summary.Measured() {
		if rec.Session == nil {
			continue
		}
		i, known := at[keyOf(rec)]
		if !known {
			i = len(all)
			at[keyOf(rec)] = i
			all = append(all, sessionBar{key: keyOf(rec), begun: rec.Times.Due, of: rec.Session.Turns})
		}
		s := &all[i]
		s.begun, s.end, s.turns = min(s.begun, rec.Times.Due), max(s.end, rec.Times.End), s.turns+1
		s.failed = s.failed || rec.Result.Class != record.OK
	}
	slices.SortStableFunc(all, func(a, b sessionBar) int { return cmp.Compare(a.end-a.begun, b.end-b.begun) })
	return all
}

// some of the sessions, at even steps from the shortest to the longest, and fewer if they have many
// turns; and how many turns of each there is space for.
func some(all []sessionBar) (shown []sessionBar, each int) {
	turns := 0
	for _, s := range all {
		turns += s.turns
	}
	n := min(len(all), max(leastSessions, min(mostSessions, mostTurns*len(all)/max(turns, 1))))
	for i := range n {
		shown = append(shown, all[(len(all)-1)*i/max(n-1, 1)])
	}
	return shown, mostTurns / max(n, 1)
}

// sessionTimeline has a row for each agent of some sessions, from when each session was due. It has
// no Series if no session has several turns.
func sessionTimeline(r Run, all []sessionBar) Chart {
	shown, each := some(all)
	rows := map[sessionKey]*sessionRows{}
	for _, s := range shown {
		rows[s.key] = &sessionRows{sessionBar: s}
	}
	for rec := range r.Summary.Measured() {
		if rec.Session == nil {
			continue
		}
		if of := rows[keyOf(rec)]; of != nil {
			of.take(rec, each)
		}
	}
	c := Chart{Name: "session-timeline", Title: "Sessions, turn by turn",
		Note: fmt.Sprintf("%d of %s, at even steps from the shortest to the longest. Each agent has a row.", len(shown),
			metrics.Counted(len(all), "session")),
		X: Axis{Title: "Time since the session was due (s)"}, Y: Axis{Title: "Agent of a session", Down: true}}
	g := newGantt(1)
	left := ""
	for _, s := range shown {
		of := rows[s.key]
		if g.draw(&c, of); of.left {
			left = fmt.Sprintf(" The chart leaves out turns beyond %d of a session, and agents beyond %d.", each, mostAgents)
		}
	}
	c.Note += left
	g.put(&c)
	c.Y.Max = float64(len(c.Rows))
	c.fit(true)
	return c
}

// sessionRows are the turns of a session by agent, the agents in the order in which they began.
type sessionRows struct {
	sessionBar
	name   string
	agents []string
	bars   map[string][]turnBar
	taken  int
	left   bool // something had no space
}

// A turnBar is when one turn was ready, due, sent, and so on, from the session's beginning.
type turnBar struct {
	sessionSlot, ready, due, sent, first, last time.Duration
	tool, failed                               bool
}

func (s *sessionRows) take(r *record.Record, most int) {
	s.name = r.Session.ID
	bars, known := s.bars[r.Session.Agent]
	if s.taken++; s.taken > most || !known && len(s.agents) == mostAgents {
		s.left = true
		return
	}
	if !known {
		if s.bars == nil {
			s.bars = map[string][]turnBar{}
		}
		s.agents = append(s.agents, r.Session.Agent)
	}
	b := turnBar{sessionSlot: r.Session.SessionSlot, ready: r.Session.Ready, due: r.Times.Due, sent: r.Times.Sent,
		first: r.Answer.Chunks.First(), last: cmp.Or(r.Times.Last, r.Times.End), tool: r.Session.Tool}
	if len(r.Session.Waits) == 0 {
		b.ready = r.Times.Due
	} else {
		b.sessionSlot = 0
	}
	if b.failed = r.Result.Class != record.OK; b.failed {
		b.last = r.Times.End
	}
	for _, at := range []*time.Duration{&b.sessionSlot, &b.ready, &b.due, &b.sent, &b.first, &b.last} {
		*at -= s.begun
	}
	s.bars[r.Session.Agent] = append(bars, b)
}

// A gantt are the series of bars about sessions.
type gantt struct{ sessionSlot, person, tool, queue, prefill, decode, failed *Series }

func newGantt(thick float64) gantt {
	bars := func(name string, color int) *Series {
		return &Series{Name: name, Style: Bars, Color: color, Thick: thick}
	}
	return gantt{bars("waits for a session slot", sessionSlotColor), bars("person's gap", personColor),
		bars("tool's gap", toolColor),
		bars("queue (client)", queueColor), bars("prefill", waitColor), bars("decode", decodeColor),
		bars("failed", failedColor)}
}

// put puts the series that have bars on a chart.
func (g gantt) put(c *Chart) {
	for _, s := range []*Series{g.sessionSlot, g.person, g.tool, g.queue, g.prefill, g.decode, g.failed} {
		if len(s.X) > 0 {
			c.Series = append(c.Series, *s)
		}
	}
}

// stack adds the parts of a job time, one after the other.
func (g gantt) stack(row float64, p sessions.JobParts) {
	at := time.Duration(0)
	for _, part := range []struct {
		bars *Series
		took time.Duration
	}{{g.prefill, p.Prefill}, {g.decode, p.Decode}, {g.person, p.Think}, {g.tool, p.Tool},
		{g.sessionSlot, p.SessionSlots}, {g.queue, p.Slots + p.Lag}} {
		part.bars.span(row, at, at+part.took)
		at += part.took
	}
}

// draw adds the rows of a session.
func (g gantt) draw(c *Chart, s *sessionRows) {
	for _, agent := range s.agents {
		c.Rows = append(c.Rows, strings.TrimSpace("session "+cmp.Or(s.name, fmt.Sprint(s.key.index))+" "+agent))
		row := float64(len(c.Rows)) - 0.5
		for _, b := range s.bars[agent] {
			gap := g.person
			if b.tool {
				gap = g.tool
			}
			gap.span(row, b.ready, b.due)
			g.sessionSlot.span(row, b.due, b.sessionSlot)
			g.queue.span(row, max(b.due, b.sessionSlot), b.sent)
			if b.failed {
				g.failed.span(row, b.sent, b.last)
				continue
			}
			g.prefill.span(row, b.sent, b.first)
			g.decode.span(row, b.first, b.last)
		}
	}
}
