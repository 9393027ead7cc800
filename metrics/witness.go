package metrics

import (
	"time"

	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/tally"
)

// A witness gathers the Truth of a run from its Records. It keeps 56 bytes for each request, up to
// a given number, and at most 32 MiB of steps.
type witness struct {
	truth    Truth            // counts and distributions so far
	whole    tally.TimeSeries // when tokens came, if answers are not streamed
	inFlight tally.InFlight
	expected int // requests to make room for with the first; 0: unknown
}

// add adds a measured record; most is how many values of a kind are kept.
func (w *witness) add(r *record.Record, most int) {
	w.inFlight.Expect(w.expected)
	w.inFlight.Add(r.Times.Sent, r.Times.End, most)
	w.truth.LaterTurns = w.truth.LaterTurns || r.Turn > 0
	if r.Answered() && r.Answer.Unstreamed {
		w.whole.Add(r.Answer.Chunks.Last(), r.Tokens.Out)
	}
}

// merge adds the findings of another witness, whose clock began that much later; most is how many
// values of a kind are kept.
func (w *witness) merge(other *witness, later time.Duration, most int) {
	w.truth.LaterTurns = w.truth.LaterTurns || other.truth.LaterTurns
	w.whole.Merge(&other.whole, later)
	w.inFlight.Merge(&other.inFlight, later, most)
}

// inOnePiece counts the tokens of answers that are not streamed for the peak. Each has one chunk, whatever
// its length.
func (w *witness) inOnePiece(s *Summary) {
	if s.Header.Config.Whole && s.Truth != nil {
		s.Rates.PeakOutput = float64(w.whole.BusiestSecond())
	}
}

// result is the Truth of a run that took so many seconds.
func (w *witness) result(seconds float64) *Truth {
	t := w.truth
	t.PeakConcurrency, t.Busy = w.inFlight.Peak(), w.inFlight.Any()
	if seconds > 0 {
		t.MeanConcurrency = w.inFlight.Busy.Seconds() / seconds
	}
	return &t
}
