package metrics

import (
	"iter"
	"math"
	"time"

	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/tally"
)

// A Window is a part of a run, from one offset of its clock to another, both included.
type Window struct {
	From time.Duration
	To   time.Duration
}

// Seconds is the length of the window.
func (w Window) Seconds() float64 { return (w.To - w.From).Seconds() }

// Meet is the common part of two windows; without one, To is before From.
func (w Window) Meet(other Window) Window {
	return Window{max(w.From, other.From), min(w.To, other.To)}
}

// Holds reports whether a time is in the window.
func (w Window) Holds(at time.Duration) bool { return w.From <= at && at <= w.To }

func (w Window) Shift(d time.Duration) Window { return Window{w.From + d, w.To + d} }

// Whole is the run's measured part on the clock of its Records.
func (s *Summary) Whole() Window {
	if math.IsNaN(s.When.Seconds) {
		return Window{s.When.Began, s.When.Began}
	}
	return Window{s.When.Began, s.When.Began + seconds(s.When.Seconds)}
}

// Loaded is the window with the full load, by the Trace: from the first measured request sent to
// the last, since after that the number in flight falls. If all were sent at once, the window lasts
// until the last has ended. It is false if there is no such time.
func (s *Summary) Loaded() (Window, bool) {
	var sent, ended tally.Extent
	burst := !s.Header.Config.Paced() && math.IsInf(s.Header.Config.RequestRate, 1)
	for r := range s.Measured() {
		sent.Add(r.Times.Sent)
		ended.Add(r.Times.End)
		burst = burst && r.Turn == 0 && r.Queue() == 0
	}
	w := Window{sent.First, sent.Last}
	if burst {
		w.To = ended.Last
	}
	return w, sent.Any && w.From < w.To
}

// Measured yields the Records of the Trace without the warm-up. Each is valid until the next.
func (s *Summary) Measured() iter.Seq[*record.Record] {
	return func(yield func(*record.Record) bool) {
		if s.Kept.Trace == nil {
			return
		}
		for r := range s.Kept.Trace.Records.All() {
			if r.Phase != record.WarmUp && !yield(r) {
				return
			}
		}
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
