package sweep

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/stream"
)

// Sequential makes a sweep of two arms stop once its pairs decide. A pair is a repeat, with all loads on
// both arms.
type Sequential struct {
	Pairs int           // the most of them
	Limit time.Duration // of all runs together, with the starts of servers; 0 for none
	Gate  compare.Gate
}

// MarshalJSON writes what the rule is made of: pairs at which one rule has looked must not go on
// with another.
func (s *Sequential) MarshalJSON() ([]byte, error) {
	of := []string{fmt.Sprint(s.Pairs, s.Gate.Alpha, s.Gate.Unit)}
	for _, l := range s.Gate.Limits {
		of = append(of, fmt.Sprint(l.Metric.Name, l.Relative, l.Absolute))
	}
	return json.Marshal(of)
}

// check refuses a plan without pairs.
func (s *Sequential) check(p *Plan) error {
	if len(p.Arms) != 2 {
		return fmt.Errorf("it takes two arms, the old and the new one, not %d", len(p.Arms))
	}
	kept := p.Kept()
	switch {
	case p.Search != nil:
		return errors.New("until: it searches on each arm, and pairs need the same load on both")
	case p.turns > 1:
		return errors.New("both arms load the same server, so they do not get the same prompts: give each arm its own server")
	case s.Pairs < compare.LeastPairs:
		return fmt.Errorf("--max-pairs %d: it must be at least %d", s.Pairs, compare.LeastPairs)
	case len(s.Gate.Limits) == 0:
		return errors.New("the gate limits no change")
	case kept != nil && s.Gate.Unit != compare.PerRun:
		return fmt.Errorf("arm %s has no command, so all its runs are on one start of a server: --unit run decides on these processes only", kept.Name)
	}
	return nil
}

// An evidence is the runs of a sequential sweep so far.
type evidence struct {
	runs []*compare.Run
	size int64 // of the part of the record stream that they are from
}

// read adds the runs that the journal has and e lacks.
func (e *evidence) read(j *journal, extra []compare.Metric) error {
	if e.size == j.size {
		return nil
	}
	sums, err := stream.Read(io.NewSectionReader(j.records, e.size, j.size-e.size), metrics.Ask{})
	if err != nil {
		return fmt.Errorf("%s: %w", j.records.Name(), err)
	}
	e.runs, e.size = append(e.runs, compare.Runs(sums, extra...)...), j.size
	return nil
}

// look compares the arms after so many pairs, and reports whether that is enough. It depends on the
// runs of these pairs only, so a sweep that is continued comes to the same decisions.
func (s *Sweep) look(pairs int) (over bool, err error) {
	q := s.Plan.Sequential
	if s.unpaired(pairs) {
		return true, nil
	}
	if err := s.evidence.read(s.journal, q.Gate.Extra()); err != nil {
		return true, err
	}
	of := slices.DeleteFunc(slices.Clone(s.evidence.runs), func(r *compare.Run) bool { return r.Repeat > pairs })
	old, err := compare.Arm(of, s.Plan.Arms[0].Name)
	if err != nil {
		return true, err
	}
	new, err := compare.Arm(of, s.Plan.Arms[1].Name)
	if err != nil {
		return true, err
	}
	c := compare.Compare(old, new, q.Gate)
	if pairs < compare.LeastPairs && !c.Doubted {
		return false, nil
	}
	s.decision = c
	if c.Doubted {
		s.say("more pairs do not help, and the same command keeps these runs: to make others, choose another folder with -o, or delete %s", s.Dir)
	}
	return c.Verdict != compare.NoVerdict || !c.Judged || s.futile(pairs), nil
}

// unpaired reports that a run of the last of so many pairs failed.
func (s *Sweep) unpaired(pairs int) bool {
	for _, c := range s.Plan.cells() {
		if past := s.of(c); c.repeat == pairs-1 && (len(past) == 0 || past[len(past)-1].Failed != "") {
			return true
		}
	}
	return false
}

// unlikely is the chance of a decision below which more pairs are futile.
const unlikely = 0.1

// futile says what more pairs will likely bring, and reports that they will bring no decision.
func (s *Sweep) futile(pairs int) bool {
	forecast, each := s.decision.Forecast(), s.pairTime(pairs)
	left := len(forecast)
	if limit := s.Plan.Sequential.Limit; limit > 0 {
		left = min(left, int((limit-time.Duration(pairs)*each)/each))
	}
	after := "after " + metrics.Counted(pairs, "pair")
	switch chance := forecast.By(left); {
	case len(forecast) == 0:
		s.decision.GiveUp(after + ", which are the most")
	case left <= 0:
		s.decision.GiveUp(fmt.Sprintf("%s: one more would end later than after %s of runs", after, Roughly(s.Plan.Sequential.Limit)))
	case chance < unlikely:
		s.decision.GiveUp(fmt.Sprintf("%s: the chance of a decision by %d is %.0f %%", after, pairs+left, math.Floor(100*chance)))
	default:
		more := cmp.Or(forecast[:left].Needed(), left)
		s.say("%s: open; with %s, about %s, the chance of a decision is %.0f %%", after, metrics.Counted(more, "more pair"), Roughly(time.Duration(more)*each), math.Floor(100*forecast.By(more)))
		return false
	}
	return true
}

// pairTime is how long one of the pairs so far took, with the starts of its servers.
func (s *Sweep) pairTime(pairs int) time.Duration {
	seconds := 0.0
	for _, c := range s.Plan.cells() {
		if c.repeat < pairs {
			for _, e := range s.of(c) {
				seconds += e.Seconds
			}
		}
	}
	return time.Duration(seconds / float64(pairs) * float64(time.Second))
}
