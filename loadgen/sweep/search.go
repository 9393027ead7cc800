package sweep

import (
	"fmt"
	"math"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
)

// A Search looks for the highest value of a flag that passes. Its runs are called probes.
// It assumes that all values above one that fails fail, too. One probe is enough to
// choose between two halves. At the edge, which is the highest value that passes and the
// next one, each value gets 1 + Confirm probes, most of them decide, and a tie takes one
// more. So a probe that fails by chance costs more probes, but not the answer.
type Search struct {
	Flag    string  `yaml:"flag"` // request-rate or max-concurrency
	From    float64 `yaml:"from"`
	To      float64 `yaml:"to"`
	Step    float64 `yaml:"step"` // between the values that are tried; above 0
	Limits  Limits  `yaml:"slo"`
	Confirm int     `yaml:"confirm"` // more probes of each value at the edge
}

// UnmarshalYAML reads a search, which must have everything but Step and Confirm.
func (s *Search) UnmarshalYAML(node *yaml.Node) error {
	s.Step, s.Confirm = 1, 2
	err := fields(node, "until", s)
	switch {
	case err != nil:
		return err
	case s.Flag != "request-rate" && s.Flag != "max-concurrency":
		return at(node, "until: flag: %q: it must be request-rate or max-concurrency", s.Flag)
	case !(s.From > 0 && s.To > s.From && s.Step > 0) || math.IsInf(s.To, 1) || math.IsInf(s.Step, 1) ||
		(s.To-s.From)/s.Step > 1e6:
		return at(node, "until: from, to and step must be numbers above 0, to above from, at most a million steps")
	case s.Flag == "max-concurrency" && (s.From != math.Floor(s.From) || s.Step != math.Floor(s.Step)):
		return at(node, "until: the steps of max-concurrency must be whole numbers")
	case s.Confirm < 0 || s.Confirm > 20:
		return at(node, "until: confirm: it must be from 0 to 20")
	case s.Limits == nil:
		return at(node, "until must have an slo, such as {p99-ttft: 200}")
	}
	return nil
}

// A vote is the result of a probe.
type vote byte

const (
	failed vote = iota
	passed
	doubted // it did not pass, but that says nothing about the server
)

// A probe is one run of a search.
type probe struct {
	value float64
	vote  vote
	why   string // why it did not pass
}

// An edge is the result of a search: one value passes, and the next one fails.
type edge struct {
	// passes is NaN if no value passes, and fails if the highest value passes.
	passes, fails     float64
	passesBy, failsBy votes

	// why is the reason of the last probe of fails that did not pass.
	why string
}

// open reports that it is unknown whether the upper value fails: if the doubtful probes had passed,
// it might pass, or be tied and need another probe.
func (e *edge) open() bool {
	v := e.failsBy
	return v.of > 0 && 2*(v.passed+v.doubted) >= v.of
}

// votes are the probes of one value.
type votes struct{ passed, doubted, of int }

// pass reports whether most of the probes passed. In a tie they did not.
func (v votes) pass() bool { return 2*v.passed > v.of }

func (v votes) tied() bool { return v.of > 0 && 2*v.passed == v.of }

// A tally is the probes of a search so far, by the index of their value.
type tally struct {
	votes map[int]votes

	// low is the highest value that passes by most of its probes, -1 for none. high is the
	// lowest one that fails, the number of values for none.
	low, high int

	// tied is a value whose probes are tied, -1 for none.
	tied int
}

func (s *Search) tally(history []probe) tally {
	t := tally{votes: map[int]votes{}, low: -1, high: s.steps(), tied: -1}
	for _, p := range history {
		v := t.votes[s.index(p.value)]
		v.of++
		switch p.vote {
		case passed:
			v.passed++
		case doubted:
			v.doubted++
		}
		t.votes[s.index(p.value)] = v
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

// next is the value to probe after the probes of history, which are in order. There is
// none when the search is over.
func (s *Search) next(history []probe) (value float64, over bool) {
	t := s.tally(history)
	switch {
	case t.tied >= 0:
		return s.value(t.tied), false
	case t.high-t.low > 1:
		return s.value((t.low + t.high) / 2), false
	}
	// The edge. Its values take turns, so that a drift affects both equally.
	next := -1
	for _, i := range []int{t.low, t.high} {
		if i >= 0 && i < s.steps() && t.votes[i].of <= s.Confirm && (next < 0 || t.votes[i].of < t.votes[next].of) {
			next = i
		}
	}
	if next < 0 {
		return 0, true
	}
	return s.value(next), false
}

// edge is the result of a search that is over.
func (s *Search) edge(history []probe) edge {
	t := s.tally(history)
	e := edge{passes: math.NaN(), fails: math.NaN(), passesBy: t.votes[t.low], failsBy: t.votes[t.high]}
	if t.low >= 0 {
		e.passes = s.value(t.low)
	}
	if t.high < s.steps() {
		e.fails = s.value(t.high)
	}
	for _, p := range history {
		if p.vote != passed && s.index(p.value) == t.high {
			e.why = p.why
		}
	}
	return e
}

// say is the result of a search in words.
func (s *Search) say(e edge) string {
	switch {
	case e.open() && math.IsNaN(e.passes):
		return fmt.Sprintf("NO VERDICT: whether %s %g passes is not known (%s): %s", s.Flag, s.From, e.failsBy, e.why)
	case math.IsNaN(e.passes):
		return fmt.Sprintf("no %s from %g on passes (%s there): %s", s.Flag, s.From, e.failsBy, e.why)
	case math.IsNaN(e.fails):
		return fmt.Sprintf("every %s up to %g passes (%s there), and none above was tried", s.Flag, e.passes, e.passesBy)
	case e.open():
		return fmt.Sprintf("NO VERDICT: %s %g passes (%s), and whether %g does is not known (%s): %s", s.Flag, e.passes,
			e.passesBy, e.fails, e.failsBy, e.why)
	}
	return fmt.Sprintf("%s %g passes (%s) and %g fails (%s): %s", s.Flag, e.passes, e.passesBy, e.fails, e.failsBy, e.why)
}

// String is such as 2 of 3 probes.
func (v votes) String() string {
	text := fmt.Sprintf("%d of %s", v.passed, metrics.Counted(v.of, "probe"))
	if v.doubted > 0 {
		text += fmt.Sprintf(", %d in doubt", v.doubted)
	}
	return text
}

// json is the votes on a value; nil for no value.
func (v votes) json(value float64) any {
	if math.IsNaN(value) {
		return nil
	}
	return pyjson.Object{{Key: "value", Value: value}, {Key: "passed", Value: v.passed},
		{Key: "doubted", Value: v.doubted}, {Key: "probes", Value: v.of}}
}

// steps is how many values there are.
func (s *Search) steps() int { return int(math.Floor((s.To-s.From)/s.Step+1e-9)) + 1 }

func (s *Search) value(i int) float64 { return s.From + float64(i)*s.Step }

func (s *Search) index(value float64) int { return int(math.Round((value - s.From) / s.Step)) }

// most is the most probes that a search takes, unless probes of one value at its edge
// disagree.
func (s *Search) most() int { return int(math.Ceil(math.Log2(float64(s.steps()+1)))) + 2*s.Confirm }

// args are the words of a command line for a value.
func (s *Search) args(value float64) []string {
	return []string{"--" + s.Flag + "=" + strconv.FormatFloat(value, 'f', -1, 64)}
}

// vote is the result of a run as a probe.
func (e *entry) vote() vote {
	switch {
	case e.Passed:
		return passed
	case e.Doubted:
		return doubted
	}
	return failed
}

// probes are the runs of a cell as its search sees them.
func probes(entries []entry) []probe {
	var history []probe
	for _, e := range entries {
		if e.Value != nil && e.Failed == "" {
			history = append(history, probe{*e.Value, e.vote(), e.Broke})
		}
	}
	return history
}
