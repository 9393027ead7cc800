package sessions

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/tally"
)

// A sessionKey names a session within a run.
type sessionKey struct {
	index int
	early bool // it began in the warm-up
}

// A collector gathers the Sessions of a run from its Records, in any order. Each session that
// may have more turns takes some 200 bytes, and 30 for each of its turns so far; one that had all of
// them takes a few bytes in Distributions.
type collector struct {
	header   *metrics.Header
	sums     Sessions // of the sessions that had all their turns, and of all turns
	open     map[sessionKey]*session
	inFlight tally.InFlight // of the sessions that had all their turns
	any      bool           // a request was added

	figures *Sessions // of a Summary; nil while requests are added, and for no sessions
}

// A session is one session as far as its records were there.
type session struct {
	turns, seen int
	legs        []byte        // the turns seen, packed
	due, begun  time.Duration // of the first turn that was due, and that was sent
	ended       time.Duration // of the last turn that ended
	broke       record.Class  // of the first turn that failed; OK if none did
	brokeAt     time.Duration // its End
	cut         bool          // a turn was cut
	bad         bool          // a turn did not keep an SLO
	early       bool          // it began in the warm-up
	measured    bool          // a turn was of the measured part

	untimed  bool          // the recorded times of a turn are unknown
	from, to time.Duration // of the recording
}

// asked is what the figures depend on, apart from the records.
type asked struct {
	began time.Duration // the measured part
	lasts time.Duration // until no more turns are sent; 0 if that is unknown
	slos  []metrics.SLO
}

func (c *collector) asked() *asked {
	h := c.header
	return &asked{h.Began(), seconds(h.Config.Duration), h.Config.Goodput}
}

// seconds is so many seconds.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Add adds a request, if it has a Session.
func (c *collector) Add(r *record.Record) {
	if r.Session != nil {
		c.addTurn(r)
		c.add(r, metrics.Good(r, c.header.Config.Goodput))
	}
}

// AddWarmUp adds a request of the warm-up, whose session may go on in the measured part.
func (c *collector) AddWarmUp(r *record.Record) {
	if r.Session != nil {
		c.add(r, true)
	}
}

// add adds a record with a Session to the session. good says that it kept all SLOs.
func (c *collector) add(r *record.Record, good bool) {
	step := r.Session
	c.any = true
	one := session{
		turns: max(step.Turns, 1), seen: 1, due: r.Times.Due, begun: r.Times.Sent, ended: r.Times.End,
		cut: r.Result.Class.Cut(), bad: !good,
		early: step.Early, measured: r.Phase != record.WarmUp, untimed: step.At == nil || step.Took <= 0,
	}
	if r.Result.Class != record.OK && !one.cut {
		one.broke, one.brokeAt = r.Result.Class, r.Times.End
	}
	if !one.untimed {
		one.from, one.to = *step.At, *step.At+step.Took
	}
	l := legOf(r)
	key := sessionKey{r.Index, step.Early}
	if s := c.open[key]; s != nil {
		s.merge(&one)
		s.legs = l.pack(s.legs)
		if s.seen >= s.turns {
			delete(c.open, key)
			c.sums.close(s, &c.inFlight, c.asked())
		}
		return
	}
	one.legs = l.pack(nil)
	if one.seen >= one.turns {
		c.sums.close(&one, &c.inFlight, c.asked())
		return
	}
	if c.open == nil {
		c.open = map[sessionKey]*session{}
	}
	c.open[key] = &one
}

// addTurn adds a measured turn.
func (c *collector) addTurn(r *record.Record) {
	row := c.sums.row(rowOf(r.Turn))
	row.Sent++
	if r.Result.Class == record.OK && r.Answer.Chunks.Len() > 0 {
		row.Completed++
		row.Prompt += r.Tokens.In
		row.Cache.add(r)
		c.sums.Cache.add(r)
		if !r.Answer.Unstreamed {
			row.TTFT.Add(r.TTFT().Seconds())
		}
		row.E2EL.Add(r.E2EL().Seconds())
		row.ScheduledE2EL.Add((r.Times.Sent + r.E2EL() - r.Times.Due).Seconds())
		if r.Tokens.Out > 1 && !r.Answer.Unstreamed {
			row.TPOT.Add(r.TPOT().Seconds())
		}
		for gap := range r.Answer.Chunks.Gaps() {
			row.ITL.AddRepeated(gap, 1)
		}
	}
	step, later := r.Session, &c.sums.Later
	if len(step.Waits) == 0 {
		return
	}
	later.Turns++
	later.Lag.Add(r.Lag().Seconds())
	if r.Lag() > LateTurn {
		later.Late++
	}
	if step.Gap > 0 {
		later.Gaps++
		if r.Times.Due <= step.Ready {
			later.Vanished++
		}
	}
	if r.Times.Sent < step.Ready {
		later.Disordered++
	}
	if step.At != nil {
		later.Drift.Add((r.Times.Due - *step.At).Seconds())
	}
	if r.Result.Class != record.OK || r.Tokens.Uncounted {
		return
	}
	if r.Tokens.OutAsked > 0 {
		later.OutDrift.Add(apart(r.Tokens.Out, r.Tokens.OutAsked))
	}
	if r.Tokens.InAsked > 0 {
		later.InDrift.Add(apart(r.Tokens.In, r.Tokens.InAsked))
	}
}

// apart is how far n is from the requested number, in percent of it, as a Distribution takes it
// whose statistics are percentages.
func apart(n, asked int) float64 { return math.Abs(float64(n-asked)) / float64(asked) * 100 / 1000 }

// merge adds other turns of the same session, except for their legs.
func (s *session) merge(other *session) {
	s.turns = max(s.turns, other.turns)
	s.seen += other.seen
	s.due, s.begun, s.ended = min(s.due, other.due), min(s.begun, other.begun), max(s.ended, other.ended)
	if other.broke != record.OK && (s.broke == record.OK || cmp.Or(cmp.Compare(other.brokeAt, s.brokeAt),
		cmp.Compare(other.broke, s.broke)) < 0) {
		s.broke, s.brokeAt = other.broke, other.brokeAt
	}
	s.cut = s.cut || other.cut
	s.bad = s.bad || other.bad
	s.measured = s.measured || other.measured
	s.untimed = s.untimed || other.untimed
	s.from, s.to = min(s.from, other.from), max(s.to, other.to)
}

// close counts a session that has no more turns.
func (all *Sessions) close(s *session, flights *tally.InFlight, a *asked) {
	if !s.measured {
		return
	}
	flights.Add(max(s.begun, a.began), max(s.ended, a.began), metrics.RequestCap)
	if s.early {
		all.Earlier++
		return
	}
	all.Begun++
	all.Sent += s.seen
	all.Unsent += max(0, s.turns-s.seen)
	switch {
	case s.broke != record.OK:
		all.broke(s.broke, 1)
	case s.cut:
		all.cutOff(s.ended-s.due, a)
	case s.seen < s.turns:
		all.cutOff(max(s.ended, a.over())-s.due, a)
	default:
		all.complete(s, a)
	}
}

// cutOff counts a session that was cut when it had taken that long.
func (all *Sessions) cutOff(took time.Duration, a *asked) {
	all.Cut++
	all.CutAfter.Add(took.Seconds())
}

// over is when no more turns were sent; 0 if that is unknown.
func (a *asked) over() time.Duration {
	if a.lasts == 0 {
		return 0
	}
	return a.began + a.lasts
}

// complete counts a session all of whose turns were answered.
func (all *Sessions) complete(s *session, a *asked) {
	took := s.ended - s.due
	all.Completed++
	all.JobTime.Add(took.Seconds())
	if !s.bad && kept(took, a.slos) {
		all.Good++
	}
	if recorded := s.to - s.from; !s.untimed && recorded > 0 {
		all.Stretch.Add(float64(took) / float64(recorded) / 1000)
	}
	parts, disordered := s.walk()
	all.Parts = all.Parts.plus(parts)
	all.Later.Disordered += disordered
}

// kept reports whether a session kept the SLOs on its job time.
func kept(job time.Duration, slos []metrics.SLO) bool {
	return !slices.ContainsFunc(slos, func(s metrics.SLO) bool {
		return s.Metric == metrics.JobSLO && s.Limit < metrics.Milliseconds(job)
	})
}

// Shift moves all times of the sessions, whose clock began that much later.
func (c *collector) Shift(later time.Duration) {
	var moved tally.InFlight
	moved.Merge(&c.inFlight, later, metrics.RequestCap)
	c.inFlight = moved
	for _, s := range c.open {
		s.shift(later)
	}
}

// Merge adds the sessions of another shard.
func (c *collector) Merge(o metrics.Aspect) {
	other := o.(*collector)
	c.any = c.any || other.any
	c.sums.merge(&other.sums)
	c.inFlight.Merge(&other.inFlight, 0, metrics.RequestCap)
	for key, s := range other.open {
		mine := c.open[key]
		if mine == nil {
			if c.open == nil {
				c.open = map[sessionKey]*session{}
			}
			c.open[key] = s
			continue
		}
		mine.merge(s)
		if mine.legs = append(mine.legs, s.legs...); mine.seen >= mine.turns {
			delete(c.open, key)
			c.sums.close(mine, &c.inFlight, c.asked())
		}
	}
}

// shift moves all times of s by d.
func (s *session) shift(d time.Duration) {
	for _, at := range []*time.Duration{&s.due, &s.begun, &s.ended, &s.brokeAt, &s.from, &s.to} {
		*at += d
	}
	var moved []byte
	for u := (unpacker{s.legs}); len(u.left) > 0; {
		l := u.leg()
		l.end += d
		moved = l.pack(moved)
	}
	s.legs = moved
}

// Distributions are settled and condensed with the Summary's.
func (c *collector) Distributions() []*metrics.Distribution {
	if c.figures == nil {
		return nil
	}
	return slices.Collect(maps.Values(c.figures.latencies()))
}

// Latency is the job time of a run with sessions.
func (c *collector) Latency(name string) *metrics.Distribution {
	if name != "job" || c.figures == nil {
		return nil
	}
	return &c.figures.JobTime
}

// Sum is the aspect with the figures of what was added, for a run that took so many seconds. They are valid until
// the next request.
func (c *collector) Sum(took float64) metrics.Aspect {
	if !c.any {
		return new(collector)
	}
	a := c.asked()
	a.lasts = min(a.lasts, seconds(took))
	all := c.sums.copied()
	all.CutAfter = metrics.PerRequest()
	all.CutAfter.Merge(&c.sums.CutAfter)
	flights := new(tally.InFlight)
	flights.Merge(&c.inFlight, 0, metrics.RequestCap)
	for _, s := range c.open {
		all.close(s, flights, a)
	}
	all.Throughput, all.Goodput = metrics.Rate(float64(all.Completed), took), math.NaN()
	if len(a.slos) > 0 {
		all.Goodput = metrics.Rate(float64(all.Good), took)
	}
	all.MeanInFlight, all.PeakInFlight = metrics.Rate(flights.Busy.Seconds(), took), flights.Peak()
	return &collector{figures: all}
}

// rate is n a second; NaN for a run that took no time.
