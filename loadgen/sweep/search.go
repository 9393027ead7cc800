package sweep

import (
	"math"
	"strconv"
)

// A Search looks for the highest value of a flag that passes, by runs that are called
// probes. It takes for granted that above a value that fails all others do. One probe is
// enough to choose between halves; at the edge, the highest value that passes and the
// next one, most of 1 + Confirm probes each decide, and a tie takes one more. So a probe
// that fails by chance costs more probes and not the answer.
type Search struct {
	Flag     string // request-rate or max-concurrency
	From, To float64
	Step     float64 // between the values that are tried; above 0
	Limits   []Limit
	Confirm  int // more probes of each value at the edge
}

// A Probe is one run of a search.
type Probe struct {
	Value  float64
	Passed bool
	Why    string // it did not
}

// Found is what a search came to: one value passes, and the next one fails.
type Found struct {
	Passes, Fails     float64 // NaN for no value: none passes, or the highest that was tried does
	PassesBy, FailsBy Votes
	Why               string // the last probe of Fails that failed did
}

// Votes are the probes of one value.
type Votes struct{ Passed, Of int }

// pass says whether most of the probes did; of none, and in a tie, they do not.
func (v Votes) pass() bool { return 2*v.Passed > v.Of }

func (v Votes) tied() bool { return v.Of > 0 && 2*v.Passed == v.Of }

// A tally is the probes of a search so far, by the index of their value.
type tally struct {
	votes     map[int]Votes
	low, high int // the highest value that passes and the lowest that fails, by most of their probes; -1 and the number of values for none
	tied      int // a value that is, -1 for none
}

func (s *Search) tally(history []Probe) tally {
	t := tally{votes: map[int]Votes{}, low: -1, high: s.steps(), tied: -1}
	for _, probe := range history {
		v := t.votes[s.index(probe.Value)]
		v.Of++
		if probe.Passed {
			v.Passed++
		}
		t.votes[s.index(probe.Value)] = v
	}
	for i, v := range t.votes {
		switch {
		case v.tied():
			t.tied = i
		case v.pass():
			t.low = max(t.low, i)
		default:
			t.high = min(t.high, i)
		}
	}
	return t
}

// Next is the value to be probed after those of history, in order. There is none when
// the search is over.
func (s *Search) Next(history []Probe) (value float64, over bool) {
	t := s.tally(history)
	switch {
	case t.tied >= 0:
		return s.value(t.tied), false
	case t.high-t.low > 1:
		return s.value((t.low + t.high) / 2), false
	}
	// The edge. Its values take turns, so that a drift hits both alike.
	next := -1
	for _, i := range []int{t.low, t.high} {
		if i >= 0 && i < s.steps() && t.votes[i].Of <= s.Confirm && (next < 0 || t.votes[i].Of < t.votes[next].Of) {
			next = i
		}
	}
	if next < 0 {
		return 0, true
	}
	return s.value(next), false
}

// Found is what the probes of a search came to that is over.
func (s *Search) Found(history []Probe) Found {
	t := s.tally(history)
	f := Found{Passes: math.NaN(), Fails: math.NaN(), PassesBy: t.votes[t.low], FailsBy: t.votes[t.high]}
	if t.low >= 0 {
		f.Passes = s.value(t.low)
	}
	if t.high < s.steps() {
		f.Fails = s.value(t.high)
	}
	for _, probe := range history {
		if !probe.Passed && s.index(probe.Value) == t.high {
			f.Why = probe.Why
		}
	}
	return f
}

// steps is how many values there are.
func (s *Search) steps() int { return int(math.Floor((s.To-s.From)/s.Step+1e-9)) + 1 }

// Top is the highest value that is tried.
func (s *Search) Top() float64 { return s.value(s.steps() - 1) }

func (s *Search) value(i int) float64 { return s.From + float64(i)*s.Step }

func (s *Search) index(value float64) int { return int(math.Round((value - s.From) / s.Step)) }

// Most is how many probes a search takes at most, unless probes of one value at its edge
// disagree.
func (s *Search) Most() int { return int(math.Ceil(math.Log2(float64(s.steps()+1)))) + 2*s.Confirm }

// Args is a value as a command line has it.
func (s *Search) Args(value float64) []string {
	return []string{"--" + s.Flag + "=" + strconv.FormatFloat(value, 'f', -1, 64)}
}
