package metrics

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"time"
)

// Sessions are the figures of a run's sessions. Counts and times are of the sessions that began in
// the measured part, from their first turn to their last, whenever that ended; Rows and Later are of
// all measured turns. A session that was cut or that broke has no job time.
type Sessions struct {
	// Begun are the sessions that sent a turn: Completed, Cut and Broken together.
	Begun int `json:"begun"`
	// Completed had all their turns answered.
	Completed int `json:"completed,omitempty"`
	// Cut had no failure, but the run ended before they did: by its duration, a deadline or an
	// interrupt.
	Cut int `json:"cut,omitempty"`
	// Broken had a turn that failed, by the class of the first such turn.
	Broken map[Class]int `json:"broken,omitempty"`
	// Earlier began before the measured part, and had turns in it. No other count of sessions has
	// them.
	Earlier int `json:"earlier,omitempty"`
	// Sent are the turns of the sessions that began, and Unsent the turns that they did not send.
	Sent   int `json:"sent"`
	Unsent int `json:"unsent,omitempty"`
	// Good are the completed sessions all of whose turns kept the SLOs, and whose job time kept the
	// SLO "job".
	Good int `json:"good,omitempty"`

	// JobTime is from when a completed session was first due until the last of its answers had
	// ended. CutAfter is the same for sessions that were cut, up to when they were last known to go
	// on.
	JobTime  Distribution `json:"-"`
	CutAfter Distribution `json:"-"`
	// Parts are what the job times of all completed sessions are made of, added up.
	Parts JobParts `json:"parts,omitzero"`
	// Stretch is JobTime divided by the time that the recording took for the same session. Its
	// statistics are ratios, not milliseconds. It has the sessions with At and Took in all turns.
	Stretch Distribution `json:"-"`

	Throughput float64 `json:"-"` // completed sessions a second
	Goodput    float64 `json:"-"` // good sessions a second; NaN without an SLO
	// MeanInFlight and PeakInFlight are the sessions that had begun and not ended, gaps included,
	// over the measured part. They include Earlier ones.
	MeanInFlight float64 `json:"-"`
	PeakInFlight int     `json:"peak_in_flight,omitempty"`

	Cache CacheUse `json:"cache,omitzero"` // of all measured turns
	// Rows are by the number of the turn: 1, 2, 3 to 4, 5 to 8, 9 to 16 and so on.
	Rows  []TurnRow  `json:"rows,omitempty"`
	Later LaterTurns `json:"later,omitzero"`
}

// JobParts are what job times are made of, along the critical path of each session: from the turn
// that ended last to the last of the turns that it waited for, and so on to a first turn. They add
// up to the job time.
type JobParts struct {
	Think   time.Duration `json:"think,omitempty"`   // gaps of persons
	Tool    time.Duration `json:"tool,omitempty"`    // gaps of tools
	Places  time.Duration `json:"places,omitempty"`  // waiting for a place
	Slots   time.Duration `json:"slots,omitempty"`   // waiting for slots
	Lag     time.Duration `json:"lag,omitempty"`     // our own lateness, also before gaps
	Prefill time.Duration `json:"prefill,omitempty"` // the server, from Sent to the first chunk
	Decode  time.Duration `json:"decode,omitempty"`  // the server, from there to End
}

// Gaps are the gaps of both kinds.
func (p JobParts) Gaps() time.Duration { return p.Think + p.Tool }

// Queue is the wait for places and slots.
func (p JobParts) Queue() time.Duration { return p.Places + p.Slots }

// Server is the time in which the server worked on an answer.
func (p JobParts) Server() time.Duration { return p.Prefill + p.Decode }

// Total is the job time.
func (p JobParts) Total() time.Duration { return p.Gaps() + p.Queue() + p.Lag + p.Server() }

func (p JobParts) plus(other JobParts) JobParts {
	return JobParts{
		Think: p.Think + other.Think, Tool: p.Tool + other.Tool, Places: p.Places + other.Places, Slots: p.Slots + other.Slots,
		Lag: p.Lag + other.Lag, Prefill: p.Prefill + other.Prefill, Decode: p.Decode + other.Decode,
	}
}

// MeanParts are the Parts of one completed session, on average.
func (s *Sessions) MeanParts() JobParts {
	p, n := s.Parts, s.Completed
	return JobParts{
		Think: share(p.Think, n), Tool: share(p.Tool, n), Places: share(p.Places, n), Slots: share(p.Slots, n),
		Lag: share(p.Lag, n), Prefill: share(p.Prefill, n), Decode: share(p.Decode, n),
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
	next, stop := iter.Pull2(s.CutAfter.values())
	defer stop()
	cut, n, more := next()
	const rounding = 1e-12
	longer := 1.0
	for took, completed := range s.JobTime.values() {
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

// A TurnRow has the figures of the measured turns with some numbers. Its latencies are of completed
// turns.
type TurnRow struct {
	Sent      int      `json:"sent"`
	Completed int      `json:"completed,omitempty"`
	Prompt    int      `json:"prompt,omitempty"` // prompt tokens of the completed turns
	Cache     CacheUse `json:"cache,omitzero"`

	TTFT          Distribution `json:"-"`
	TPOT          Distribution `json:"-"`
	ITL           Distribution `json:"-"` // it only has a histogram
	E2EL          Distribution `json:"-"`
	ScheduledE2EL Distribution `json:"-"` // from Due to the last chunk
}

// rowOf is the row of the turn at that position in its session, from 0.
func rowOf(turn int) int { return bits.Len(uint(max(turn, 0))) }

// RowTurns are the numbers, from 1, of the first and the last turn of row i.
func RowTurns(i int) (from, to int) {
	if i == 0 {
		return 1, 1
	}
	return 1<<(i-1) + 1, 1 << i
}

// TurnNumbers are the numbers of the turns in row i, as "3–4".
func TurnNumbers(i int) string {
	from, to := RowTurns(i)
	if from == to {
		return strconv.Itoa(from)
	}
	return fmt.Sprintf("%d–%d", from, to)
}

// MeanPrompt is the mean number of prompt tokens of a completed turn; 0 if there is none.
func (r *TurnRow) MeanPrompt() float64 { return float64(r.Prompt) / float64(max(r.Completed, 1)) }

// latencies are the Distributions of the row by their names.
func (r *TurnRow) latencies() map[string]*Distribution {
	return map[string]*Distribution{"ttft": &r.TTFT, "tpot": &r.TPOT, "itl": &r.ITL, "e2el": &r.E2EL, "scheduled_e2el": &r.ScheduledE2EL}
}

// merge adds the counts of another.
func (r *TurnRow) merge(other *TurnRow) {
	r.Sent += other.Sent
	r.Completed += other.Completed
	r.Prompt += other.Prompt
	r.Cache = r.Cache.plus(other.Cache)
}

// CacheUse counts prompt tokens of completed requests: how many the server found in its prefix
// cache, and how many a cache without limit would have had.
type CacheUse struct {
	// Planned are the prompt tokens, by the dataset's count, of the requests whose Reusable is known,
	// and Reusable how many of them a prefix cache without limit would have had.
	Planned  int `json:"planned,omitempty"`
	Reusable int `json:"reusable,omitempty"`

	// Told are of the requests whose usage has cached tokens, and Silent of the others. Zeros are the
	// requests whose usage says that the server found none.
	Told   CacheTokens `json:"told,omitzero"`
	Silent CacheTokens `json:"silent,omitzero"`
	Zeros  int         `json:"zeros,omitempty"`
}

// CacheTokens are the prompt tokens of some requests.
type CacheTokens struct {
	Prompt int `json:"prompt,omitempty"` // all, by the server's count
	Cached int `json:"cached,omitempty"` // in the server's prefix cache
	// Reused are the Cached ones of the requests whose Reusable is known, and Reusable that many.
	Reused   int `json:"reused,omitempty"`
	Reusable int `json:"reusable,omitempty"`
}

func (t CacheTokens) plus(other CacheTokens) CacheTokens {
	return CacheTokens{t.Prompt + other.Prompt, t.Cached + other.Cached, t.Reused + other.Reused, t.Reusable + other.Reusable}
}

func (u CacheUse) plus(other CacheUse) CacheUse {
	return CacheUse{
		Planned: u.Planned + other.Planned, Reusable: u.Reusable + other.Reusable,
		Told: u.Told.plus(other.Told), Silent: u.Silent.plus(other.Silent), Zeros: u.Zeros + other.Zeros,
	}
}

// add counts a completed request.
func (u *CacheUse) add(r *Record) {
	tokens := CacheTokens{Prompt: r.In, Cached: min(r.Cached, r.In)}
	if r.Step.Reusable >= 0 {
		u.Planned += r.InAsked
		u.Reusable += r.Step.Reusable
		tokens.Reused, tokens.Reusable = tokens.Cached, r.Step.Reusable
	}
	if r.Uncached {
		u.Zeros++
	}
	if r.Cached > 0 || r.Uncached {
		u.Told = u.Told.plus(tokens)
	} else {
		u.Silent = u.Silent.plus(tokens)
	}
}

// Known are the tokens of the requests whose cached tokens are known. A server that reports a 0
// reports all, so the silent requests are unknown. One that reports only other numbers, as vLLM
// does, leaves out a 0. If no request has a number, there are none.
func (u CacheUse) Known() CacheTokens {
	if u.Zeros > 0 || u.Told == (CacheTokens{}) {
		return u.Told
	}
	return u.Told.plus(u.Silent)
}

// CachedShare is the share of the prompt tokens that the server had in its prefix cache, 0 to 1; NaN
// if unknown.
func (u CacheUse) CachedShare() float64 {
	known := u.Known()
	return ratio(known.Cached, known.Prompt)
}

// ReusableShare is the share of the prompt tokens that a cache without limit would have had, 0 to 1;
// NaN if unknown.
func (u CacheUse) ReusableShare() float64 { return ratio(u.Reusable, u.Planned) }

// ReusedShare is how much of what could be reused was: the cached tokens divided by the reusable
// ones; NaN if unknown. It is above 1 if the server knew prompts from before the run.
func (u CacheUse) ReusedShare() float64 {
	known := u.Known()
	return ratio(known.Reused, known.Reusable)
}

// ratio is n divided by of; NaN for 0.
func ratio(n, of int) float64 {
	if of == 0 {
		return math.NaN()
	}
	return float64(n) / float64(of)
}

// LaterTurns are the measured turns that waited for other turns, and what shows whether they were
// sent as they should be.
type LaterTurns struct {
	Turns int          `json:"turns,omitempty"`
	Late  int          `json:"late,omitempty"` // with a lag above LateTurn
	Lag   Distribution `json:"-"`              // of all of them

	// Gaps are the turns with a gap, and Vanished those that were due at once after all, because the
	// answer came later than the recording had the turn sent.
	Gaps     int `json:"gaps,omitempty"`
	Vanished int `json:"vanished,omitempty"`
	// Disordered were sent before what they waited for had ended. There must be none.
	Disordered int `json:"disordered,omitempty"`

	// Drift is Due less At: how far behind its recording a turn was due. A turn that was early has a
	// negative value.
	Drift Distribution `json:"-"`
	// OutDrift is how far the number of output tokens is from the requested number, and InDrift how
	// far the server's number of prompt tokens is from the dataset's. Their statistics are percentages
	// of the requested number, not milliseconds. Both have the completed turns of which both numbers
	// are known.
	OutDrift, InDrift Distribution `json:"-"`
}

// LateTurn is the lag from which on a later turn counts as late.
const LateTurn = time.Millisecond

// latencies are all Distributions of s by their names, which also name histograms.
func (s *Sessions) latencies() map[string]*Distribution {
	all := map[string]*Distribution{
		"job": &s.JobTime, "job_cut": &s.CutAfter, "job_stretch": &s.Stretch, "later_lag": &s.Later.Lag, "drift": &s.Later.Drift,
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
func (s *Sessions) broke(class Class, n int) {
	if s.Broken == nil {
		s.Broken = map[Class]int{}
	}
	s.Broken[class] += n
}

// row is row i, made if it is missing.
func (s *Sessions) row(i int) *TurnRow {
	for len(s.Rows) <= i {
		s.Rows = append(s.Rows, TurnRow{})
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
			d.merge(more)
		}
	}
}

// copied is a copy that can be added to. It shares the values of latencies.
func (s *Sessions) copied() *Sessions {
	c := *s
	c.Broken, c.Rows = maps.Clone(s.Broken), slices.Clone(s.Rows)
	return &c
}
