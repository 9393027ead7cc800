// Package sessions is the sessions of a run: how many completed, how long their jobs took and of what parts those
// are made, and what their turns found in the server's prefix cache.
package sessions

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// Sessions are the figures of a run's sessions. Counts and times are of the sessions that began in
// the measured part, from their first turn to their last, whenever that ended; Rows and Later are of
// all measured turns. A session that was cut or that broke has no job time.
type Sessions struct {
	// Begun are the sessions that sent a turn: Completed, Cut and Broken together.
	Begun int
	// Completed had all their turns answered.
	Completed int
	// Cut had no failure, but the run ended before they did: by its duration, a deadline or an
	// interrupt.
	Cut int
	// Broken had a turn that failed, by the class of the first such turn.
	Broken map[record.Class]int
	// Earlier began before the measured part, and had turns in it. No other count of sessions has
	// them.
	Earlier int
	// Sent are the turns of the sessions that began, and Unsent the turns that they did not send.
	Sent   int
	Unsent int
	// Good are the completed sessions all of whose turns kept the SLOs, and whose job time kept the
	// SLO "job".
	Good int

	// JobTime is from when a completed session was first due until the last of its answers had
	// ended. CutAfter is the same for sessions that were cut, up to when they were last known to go
	// on.
	JobTime  metrics.Distribution
	CutAfter metrics.Distribution
	// Parts are what the job times of all completed sessions are made of, added up.
	Parts JobParts
	// Stretch is JobTime divided by the time that the recording took for the same session. Its
	// statistics are ratios, not milliseconds. It has the sessions with At and Took in all turns.
	Stretch metrics.Distribution

	Throughput float64 // completed sessions a second
	Goodput    float64 // good sessions a second; NaN without an SLO
	// MeanInFlight and PeakInFlight are the sessions that had begun and not ended, gaps included,
	// over the measured part. They include Earlier ones.
	MeanInFlight float64
	PeakInFlight int

	Cache CacheUse // of all measured turns
	// Rows are by the number of the turn: 1, 2, 3 to 4, 5 to 8, 9 to 16 and so on.
	Rows  []TurnRow
	Later LaterTurns
}

// Kind is the aspect as the list has it. Most sessions are not wholly inside a part of a run.
var Kind = &metrics.Kind{
	Name: "sessions", Whole: true,
	New: func(h *metrics.Header) metrics.Aspect { return &collector{header: h, sums: empty()} },
}

// Of are the figures of a run's sessions; nil if no request has a Session, for a part of a run, and unless they come
// from Records or from a reader that gives them. The Summary owns them.
func Of(s *metrics.Summary) *Sessions { return metrics.View[collector](s).figures }

// Give gives a run the figures of its sessions, which a file has. The Summary owns them then; nil is none.
func Give(s *metrics.Summary, of *Sessions) { s.Give(Kind, &collector{figures: of}) }

// Scheduled are the sessions that a run was to send; 0 if that is unknown, or if its duration decides.
func Scheduled(s *metrics.Summary) int {
	c := &s.Header.Config
	if Of(s) == nil || c.Duration > 0 || s.Header.Shards > 1 && s.Source.Shards == nil {
		return 0
	}
	return max(c.NumPrompts, 0)
}

// empty are the figures before the first request.
func empty() Sessions {
	return Sessions{
		JobTime: metrics.PerRequest(), CutAfter: metrics.PerRequest(), Stretch: metrics.PerRequest(),
		Later: LaterTurns{
			Lag: metrics.PerRequest(), Drift: metrics.PerRequest(),
			OutDrift: metrics.PerRequest(), InDrift: metrics.PerRequest(),
		},
	}
}

// MeanParts are the Parts of one completed session, on average.
func (s *Sessions) MeanParts() JobParts {
	p, n := s.Parts, s.Completed
	return JobParts{
		Think: metrics.Share(p.Think, n), Tool: metrics.Share(p.Tool, n),
		SessionSlots: metrics.Share(p.SessionSlots, n), Slots: metrics.Share(p.Slots, n),
		Lag: metrics.Share(p.Lag, n), Prefill: metrics.Share(p.Prefill, n), Decode: metrics.Share(p.Decode, n),
	}
}

// BrokenAll is the number of sessions that broke.
func (s *Sessions) BrokenAll() (n int) {
	for _, sessions := range s.Broken {
		n += sessions
	}
	return n
}

// JobPercentile is the p-th percentile of the job times in milliseconds, p from 0 to 100, if the
// sessions that were cut count with what is known of them: they take longer than CutAfter. It is
// the product-limit estimate (E. L. Kaplan and P. Meier, "Nonparametric estimation from incomplete
// observations", Journal of the American Statistical Association 53 (1958), 457–481): the share
// that takes longer than t is the product of 1 − d/n over all job times up to t, where d sessions of
// n that were still in progress completed; one cut at that instant is among the n. The percentile is
// the first job time up to which p % have completed. It is +Inf if the run was too short to see so
// many complete, and NaN without sessions. Sessions that broke are left out, as failed requests are
// left out of latencies.
func (s *Sessions) JobPercentile(p float64) float64 {
	left := s.JobTime.Len() + s.CutAfter.Len()
	if left == 0 {
		return math.NaN()
	}
	next, stop := iter.Pull2(s.CutAfter.Values())
	defer stop()
	cut, n, more := next()
	const rounding = 1e-12
	longer := 1.0
	for took, completed := range s.JobTime.Values() {
		for more && cut < took {
			left -= n
			cut, n, more = next()
		}
		longer *= 1 - float64(completed)/float64(left)
		left -= completed
		if 1-longer >= p/100-rounding {
			return took * 1000
		}
	}
	return math.Inf(1)
}

// latencies are all Distributions of s by their names.
func (s *Sessions) latencies() map[string]*metrics.Distribution {
	all := map[string]*metrics.Distribution{
		"job": &s.JobTime, "job_cut": &s.CutAfter, "job_stretch": &s.Stretch, "later_lag": &s.Later.Lag,
		"drift":     &s.Later.Drift,
		"out_drift": &s.Later.OutDrift, "in_drift": &s.Later.InDrift,
	}
	for i := range s.Rows {
		for name, d := range s.Rows[i].latencies() {
			all[fmt.Sprintf("turns_%d_%s", i, name)] = d
		}
	}
	return all
}

// broke counts sessions that broke by that class.
func (s *Sessions) broke(class record.Class, n int) {
	if s.Broken == nil {
		s.Broken = map[record.Class]int{}
	}
	s.Broken[class] += n
}

// row is row i, made if it is missing.
func (s *Sessions) row(i int) *TurnRow {
	for len(s.Rows) <= i {
		s.Rows = append(s.Rows, emptyRow())
	}
	return &s.Rows[i]
}

// merge adds other figures, except for rates and sessions in flight.
func (s *Sessions) merge(other *Sessions) {
	if len(other.Rows) > 0 {
		s.row(len(other.Rows) - 1)
	}
	for i := range other.Rows {
		s.Rows[i].merge(&other.Rows[i])
	}
	s.Begun += other.Begun
	s.Completed += other.Completed
	s.Cut += other.Cut
	s.Earlier += other.Earlier
	s.Sent += other.Sent
	s.Unsent += other.Unsent
	s.Good += other.Good
	s.Parts = s.Parts.plus(other.Parts)
	s.Cache = s.Cache.plus(other.Cache)
	for class, n := range other.Broken {
		s.broke(class, n)
	}
	s.Later.Turns += other.Later.Turns
	s.Later.Late += other.Later.Late
	s.Later.Gaps += other.Later.Gaps
	s.Later.Vanished += other.Later.Vanished
	s.Later.Disordered += other.Later.Disordered
	others := other.latencies()
	for name, d := range s.latencies() {
		if more := others[name]; more != nil {
			d.Merge(more)
		}
	}
}

// copied is a copy that can be added to. It shares the values of latencies.
func (s *Sessions) copied() *Sessions {
	c := *s
	c.Broken, c.Rows = maps.Clone(s.Broken), slices.Clone(s.Rows)
	return &c
}
