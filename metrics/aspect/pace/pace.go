// Package pace is whether the requests of a run were sent at the rate that was asked for.
package pace

import (
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/backlog"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/tally"
)

// A Sending is of the measured requests that open a conversation: each later turn is due when the one before ends.
type Sending struct {
	Pace // zero if the requests were not due one after the other

	config    *metrics.Config
	pace      Pace // of all requests so far
	due, sent tally.Extent
}

// Kind is the aspect as the list has it.
var Kind = &metrics.Kind{
	Name: "pace", New: func(h *metrics.Header) metrics.Aspect { return &Sending{config: &h.Config} },
	Facts: facts, Text: text,
}

// Of is the aspect of a run.
func Of(s *metrics.Summary) *Sending { return metrics.View[Sending](s) }

// HeldBack reports that requests waited for slots because the server did not keep up: this explains
// a rate that was not achieved.
func HeldBack(s *metrics.Summary) bool {
	p := Of(s)
	return p.Queue > p.Lag && backlog.Of(s).Grows()
}

func facts(s *metrics.Summary) (all []metrics.Fact) {
	p := Of(s)
	if p.Asked() > 0 && p.Achieved() > 0 {
		all = append(all, metrics.Fact{Key: "asked_rate_per_s", Value: p.Asked()},
			metrics.Fact{Key: "achieved_rate_per_s", Value: p.Achieved()})
	}
	return all
}

const text = `{{if sessions .run}}Session{{else}}Request{{end}} rate
	{{with .achieved_rate_per_s}}{{$unit := "req/s"}}{{if sessions $.run}}{{$unit = "sessions/s"}}{{end}}
	{{- printf "%.2f %s, scheduled %.2f %s" . $unit $.asked_rate_per_s $unit}}{{end}}`

// Add adds a request.
func (s *Sending) Add(r *record.Record) {
	if r.Phase == record.Main && r.Turn == 0 {
		s.open(r)
	}
}

// AddPart adds a request that was sent within a part of the run and ended after it.
func (s *Sending) AddPart(r *record.Record, w metrics.Window) {
	if r.Phase == record.Main && r.Turn == 0 && w.Holds(r.Times.Sent) && !w.Holds(r.Done()) {
		s.open(r)
	}
}

// open adds a request that opens a conversation.
func (s *Sending) open(r *record.Record) {
	s.pace.Requests++
	s.pace.Queue += r.Queue()
	s.pace.Lag += r.Lag()
	s.due.Add(r.Times.Due)
	s.sent.Add(r.Times.Sent)
}

// Shift moves all times.
func (s *Sending) Shift(later time.Duration) {
	var due, sent tally.Extent
	due.Merge(s.due, later)
	sent.Merge(s.sent, later)
	s.due, s.sent = due, sent
}

// Merge adds another shard's requests.
func (s *Sending) Merge(o metrics.Aspect) {
	other := o.(*Sending)
	s.pace.Requests += other.pace.Requests
	s.pace.Queue += other.pace.Queue
	s.pace.Lag += other.pace.Lag
	s.due.Merge(other.due, 0)
	s.sent.Merge(other.sent, 0)
}

// Sum has the Pace, if requests were due one after the other.
func (s *Sending) Sum(float64) metrics.Aspect {
	sum := new(Sending)
	if s.config.Paced() {
		sum.Pace = s.pace
		sum.Due, sum.Sent = s.due.Last-s.due.First, s.sent.Last-s.sent.First
	}
	return sum
}

// Pace compares the time over which requests were sent with the time over which they were due.
type Pace struct {
	Requests int
	Due      time.Duration // from the first to the last
	Sent     time.Duration // likewise
	Queue    time.Duration // over all requests: why they were late
	Lag      time.Duration // likewise
}

// The tolerance within which a rate counts as kept. An open loop that does not reach its rate has
// become a closed loop. Runs of a fraction of a second may be 20 ms late.
const (
	rateLimit    = 95.0 // % of the requested rate
	rateForgiven = 20 * time.Millisecond
)

// Kept is how much of the requested rate was achieved, and the least that counts as keeping it,
// both in percent. Both mean nothing if Due or Sent is 0.
func (p Pace) Kept() (achieved, least float64) {
	part := func(of time.Duration) float64 { return float64(p.Due) / float64(of) * 100 }
	return part(p.Sent), min(rateLimit, part(p.Due+rateForgiven))
}

// MeanQueue is how long a request waited for a slot, on average.
func (p Pace) MeanQueue() time.Duration { return metrics.Share(p.Queue, p.Requests) }

// MeanLag is how late the load generator sent a request, on average.
func (p Pace) MeanLag() time.Duration { return metrics.Share(p.Lag, p.Requests) }

// Asked is the requested rate in requests a second, 0 without one.
func (p Pace) Asked() float64 { return perSecond(p.Requests-1, p.Due) }

// Achieved is the achieved rate in requests a second, 0 without one.
func (p Pace) Achieved() float64 { return perSecond(p.Requests-1, p.Sent) }

func perSecond(n int, d time.Duration) float64 {
	if n <= 0 || d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}
