package metrics

import (
	"time"

	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/tally"
)

// A witness gathers the Truth of a run from its Records. It keeps 56 bytes for each request, up to
// a given number, and nothing for a token: at most 48 MiB of steps and a few histograms.
type witness struct {
	truth    Truth            // counts and distributions so far
	tokens   tally.TimeSeries // when tokens came
	inFlight tally.InFlight
	expected int // requests to make room for with the first; 0: unknown

	afterFirst  time.Duration // from first to last chunk, of requests whose tokens were counted
	afterTokens float64       // tokens in that time
}

// add adds a measured record; most is how many values of a kind are kept.
func (w *witness) add(r *record.Record, most int) {
	w.inFlight.Expect(w.expected)
	w.inFlight.Add(r.Times.Sent, r.Times.End, most)
	w.truth.LaterTurns = w.truth.LaterTurns || r.Turn > 0
	if r.Answered() && (r.Tokens.Out > 0 || !r.Answer.Unstreamed) { // an embedding has no tokens
		w.addTokens(r)
	}
}

// addTokens counts the tokens of a completed request by their chunks. It spreads them evenly if
// single chunk times are unknown.
func (w *witness) addTokens(r *record.Record) {
	a := record.Attribute(r)
	w.truth.Tokens = w.truth.Tokens.plus(chunkTokensOf(&a))
	if a.Kind != record.FewerTokens && a.Tokens > 1 {
		w.afterFirst += r.Answer.Chunks.Last() - r.Answer.Chunks.First()
		w.afterTokens += float64(a.Tokens) * (1 - 1/float64(a.Chunks))
	}
	single := a.Kind == record.KnownTokens && !r.Answer.Chunks.Gapless()
	last, begun := time.Duration(0), false
	for at, n := range a.Arrivals(r) {
		if n == 0 {
			continue
		}
		w.tokens.Add(at, n)
		if single && begun {
			w.truth.ITL.AddRepeated((at-last)/time.Duration(n), n)
		}
		last, begun = at, true
	}
}

// merge adds the findings of another witness, whose clock began that much later; most is how many
// values of a kind are kept.
func (w *witness) merge(other *witness, later time.Duration, most int) {
	w.truth.merge(&other.truth)
	w.tokens.Merge(&other.tokens, later)
	w.inFlight.Merge(&other.inFlight, later, most)
	w.afterFirst += other.afterFirst
	w.afterTokens += other.afterTokens
}

// result is the Truth of a run that took so many seconds.
func (w *witness) result(seconds float64) *Truth {
	t := w.truth
	if t.Tokens.Bundles() {
		t.ITL = Distribution{}
	}
	t.MeanITL = t.ITL.Mean()
	if t.ITL.Len() == 0 && w.afterTokens > 0 {
		t.MeanITL = float64(w.afterFirst) / w.afterTokens / float64(time.Millisecond)
	}
	t.PeakTokens, t.PeakStep = w.tokens.BusiestSecond(), w.tokens.Width()
	t.PeakConcurrency, t.Busy = w.inFlight.Peak(), w.inFlight.Any()
	if seconds > 0 {
		t.MeanConcurrency = w.inFlight.Busy.Seconds() / seconds
	}
	return &t
}
