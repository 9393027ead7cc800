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
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/stream"
)

// Sequential makes a sweep of two arms stop once its pairs decide. A pair is a repeat, with all loads on
// both arms.
type Sequential struct {
	Pairs int           // the most of them
	Limit time.Duration // of all runs together, with the starts of servers; 0 for none
	Gate  gating.Gate
}

// MarshalJSON writes what the rule is made of: pairs at which one rule has looked must not go on
// with another.
func (s *Sequential) MarshalJSON() ([]byte, error) {
	of := []string{fmt.Sprint(s.Pairs, s.Gate.Alpha, s.Gate.Unit)}
	for _, l := range s.Gate.Limits {
		of = append(of, fmt.Sprint(l.Number.Name, l.Relative, l.Absolute))
	}
	return json.Marshal(of)
}

// check refuses a plan without pairs.
func (s *Sequential) check(p *Plan) error {
	if len(p.Arms) != 2 {
		return fmt.Errorf("it takes two arms, the old and the new one, not %d: give --arm old=COMMAND --arm new=COMMAND, "+
			"or a FILE with two arms", len(p.Arms))
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
	case kept != nil && s.Gate.Unit != gating.PerRun:
		return fmt.Errorf("arm %s has no command, so all its runs are on one start of a server: --unit run decides on "+
			"these processes only", kept.Name)
	}
	return nil
}

// An evidence is the runs of a sequential sweep so far.
type evidence struct {
	runs []*brief.Run
	size int64 // of the part of the record stream that they are from
}

// read adds the runs that the journal has and e lacks.
func (e *evidence) read(j *journal, extra []metrics.Number) error {
	if e.size == j.size {
		return nil
	}
	sums, err := stream.Read(io.NewSectionReader(j.records, e.size, j.size-e.size), metrics.Ask{})
	if err != nil {
		return fmt.Errorf("%s: %w", j.records.Name(), err)
	}
	e.runs, e.size = append(e.runs, brief.Runs(sums, extra...)...), j.size
	return nil
}

// upTo are the runs of so many repeats.
func (e *evidence) upTo(repeats int) []*brief.Run {
	return slices.DeleteFunc(slices.Clone(e.runs), func(r *brief.Run) bool { return r.Repeat > repeats })
}

// compare compares the arms after so many repeats.
func (e *evidence) compare(p *Plan, repeats int) (*compare.Comparison, error) {
	of := e.upTo(repeats)
	old, err := compare.Arm(of, p.Arms[0].Name)
	if err != nil {
		return nil, err
	}
	new, err := compare.Arm(of, p.Arms[1].Name)
	if err != nil {
		return nil, err
	}
	return compare.Compare(old, new, p.Sequential.Gate), nil
}

// look compares the arms after so many repeats, and reports whether that is enough. It depends on the
// runs of these repeats only, so a sweep that is continued comes to the same decisions. A disturbed pair
// is no look: it has no part in the comparison.
func (s *Sweep) look(repeats int) (over bool, err error) {
	q := s.Plan.Sequential
	if s.journal.history.unpaired(repeats) {
		return true, nil
	}
	if err := s.evidence.read(s.journal, q.Gate.Extra()); err != nil {
		return true, err
	}
	disturbed := brief.Disturbed(s.evidence.upTo(repeats), &q.Gate)
	so := pairsOf(repeats, disturbed)
	if why := disturbed[repeats]; why != "" {
		return s.makeAgain(so, why)
	}
	c, err := s.evidence.compare(s.Plan, repeats)
	if err != nil {
		return true, err
	}
	switch enough := so.used >= compare.LeastPairs || c.Doubted; {
	case !enough && so.left(s.Plan) <= 0:
		return true, s.leaveOpen(so, fmt.Sprintf("%s, which are the most", &so))
	case !enough:
		return false, nil
	}
	s.decision = c
	if c.Doubted {
		s.say("more pairs do not help, and the same command keeps these runs: to make others, choose another folder with "+
			"-o, or delete %s", s.Dir)
	}
	return c.Verdict != compare.NoVerdict || !c.Judged || s.futile(so), nil
}

// futile says what more pairs will likely bring, and reports that they will bring no decision.
func (s *Sweep) futile(so pairs) bool {
	forecast, each := s.decision.Forecast(), s.journal.history.pairTime(so.repeats)
	left := min(len(forecast), so.left(s.Plan))
	if left <= 0 {
		return s.decision.Futile(so.String(), left)
	}
	if limit := s.Plan.Sequential.Limit; limit > 0 {
		left = min(left, int((limit-time.Duration(so.repeats)*each)/each))
	}
	switch {
	case left <= 0:
		s.decision.GiveUp(fmt.Sprintf("%s: one more would end later than after %s of runs", &so,
			Roughly(s.Plan.Sequential.Limit)))
	case s.decision.Futile(so.String(), left):
	default:
		more := cmp.Or(forecast[:left].Needed(), left)
		s.say("%s: open; with %s, about %s, the chance of a decision is %.0f %%", &so, metrics.Counted(more, "more pair"),
			Roughly(time.Duration(more)*each), math.Floor(100*forecast.By(more)))
		return false
	}
	return true
}
