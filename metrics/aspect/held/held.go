// Package held is how long the requests of a run held their slot after the last chunk of their answers.
package held

import (
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// Held is how long completed requests held their slot after their last chunk. By Little's law it is
// the difference between the requests in flight by our count, the sum of End − Sent, and throughput
// × mean E2EL.
type Held struct {
	Mean  time.Duration // a request
	Share float64       // of E2EL
	// Unread is the part of Mean in which the last chunk may have waited in the socket: it may be
	// our own delay.
	Unread time.Duration
}

// A Holding is of the completed requests.
type Holding struct {
	Held

	answered int           // requests
	held     time.Duration // of all of them
	e2el     time.Duration // likewise
	unread   time.Duration // likewise
}

// Kind is the aspect as the list has it.
var Kind = &metrics.Kind{
	Name: "held", New: func(*metrics.Header) metrics.Aspect { return new(Holding) }, Facts: facts, Text: text,
}

// Of is the aspect of a run.
func Of(s *metrics.Summary) *Holding { return metrics.View[Holding](s) }

func facts(s *metrics.Summary) []metrics.Fact {
	h := Of(s)
	return []metrics.Fact{
		{Key: "mean_held_ms", Value: metrics.Milliseconds(h.Mean)}, {Key: "held_percent", Value: h.Share * 100},
		{Key: "mean_held_unread_ms", Value: metrics.Milliseconds(h.Unread)},
	}
}

const text = `Slot held after last {{if .run.Header.Config.Whole}}byte{{else}}chunk{{end}}
	{{if ge .mean_held_ms 0.001}}{{printf "%.3f ms per request (%.2f %% of E2EL)" .mean_held_ms .held_percent}}
	{{- if ge .mean_held_unread_ms 0.001}}; up to {{printf "%.3f" .mean_held_unread_ms}} ms of it is read delay{{end}}{{end}}`

// Add adds a request.
func (h *Holding) Add(r *record.Record) {
	if !r.Answered() {
		return
	}
	h.answered++
	if last := r.Final(); r.Times.End >= last && last > 0 {
		h.held += r.Times.End - last
		h.unread += min(r.Times.End-last, r.Answer.MaxAge)
		h.e2el += r.E2EL()
	}
}

// Merge adds another shard's requests.
func (h *Holding) Merge(o metrics.Aspect) {
	other := o.(*Holding)
	h.answered += other.answered
	h.held, h.e2el, h.unread = h.held+other.held, h.e2el+other.e2el, h.unread+other.unread
}

// Sum has the means.
func (h *Holding) Sum(float64) metrics.Aspect {
	sum := &Holding{Held: Held{Mean: metrics.Share(h.held, h.answered), Unread: metrics.Share(h.unread, h.answered)}}
	if h.e2el > 0 {
		sum.Share = float64(h.held) / float64(h.e2el)
	}
	return sum
}
