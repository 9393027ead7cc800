package sweep

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/compare/brief"
)

// A disturbed pair is made again up to mostAgain times, as further repeats, and is then left out. After
// mostLeftOut such pairs in a row the machine is too busy for more.
const (
	mostAgain   = compare.Tries - 1
	mostLeftOut = 3
)

// pairs are the repeats of a sequential sweep so far.
type pairs struct {
	repeats   int
	used      int // of the repeats
	disturbed int // the others
	again     int // of them, the last ones, if they are of a pair that is not made yet
	leftOut   int // pairs that were disturbed each time
	inARow    int // of them, the last ones
}

// pairsOf counts the first repeats of a sequential sweep, of which some are disturbed.
func pairsOf(repeats int, disturbed map[int]string) pairs {
	p := pairs{repeats: repeats}
	for repeat := range repeats {
		if disturbed[repeat+1] == "" {
			p.used++
			p.again, p.inARow = 0, 0
			continue
		}
		p.disturbed++
		if p.again++; p.again > mostAgain {
			p.leftOut++
			p.inARow++
			p.again = 0
		}
	}
	return p
}

// left is how many of the pairs of a plan are still to be made.
func (p *pairs) left(of *Plan) int { return of.Sequential.Pairs - p.used - p.leftOut }

// String says how many pairs there are.
func (p *pairs) String() string {
	text := "after " + metrics.Counted(p.used, "pair")
	if p.disturbed > 0 {
		text += fmt.Sprintf(" and %s", metrics.Counted(p.disturbed, "disturbed one"))
	}
	return text
}

// disturbance is how the client was disturbed in one of the runs, empty if it was not.
func disturbance(sums []*metrics.Summary) string {
	for _, s := range sums {
		if why := brief.Disturbance(s); why != "" {
			return why
		}
	}
	return ""
}

// makeAgain says that the last repeat is disturbed, and what the sweep does about it. It reports that the
// sweep ends.
func (s *Sweep) makeAgain(so pairs, why string) (over bool, err error) {
	q, each := s.Plan.Sequential, s.journal.history.pairTime(so.repeats)
	last := fmt.Sprintf("repeat %d is not used, since it was disturbed (%s)", so.repeats, why)
	switch {
	case so.inARow == mostLeftOut:
		return true, s.leaveOpen(so, fmt.Sprintf("%s: the last %d pairs were disturbed in each of %d tries (the last one: "+
			"%s)", &so, mostLeftOut, 1+mostAgain, why))
	case so.left(s.Plan) <= 0:
		return true, s.leaveOpen(so, fmt.Sprintf("%s, of which %s in each of %d tries: the most are %d (the last one: %s)",
			&so, metrics.Counted(so.leftOut, "pair"), 1+mostAgain, q.Pairs, why))
	case q.Limit > 0 && time.Duration(so.repeats+1)*each > q.Limit:
		s.say("with a longer --max-minutes, the same command goes on")
		return true, s.leaveOpen(so, fmt.Sprintf("%s: one more would end later than after %s of runs (the last one: %s)",
			&so, Roughly(q.Limit), why))
	case so.again == 0:
		s.say("%s. After %d tries its pair is left out, and the next one follows", last, 1+mostAgain)
	default:
		s.say("%s. Its pair is made again (%d of at most %d times), about %s", last, so.again, mostAgain, Roughly(each))
	}
	return false, nil
}

// leaveOpen makes the decision NO VERDICT, since no more pairs are made.
func (s *Sweep) leaveOpen(so pairs, why string) error {
	c, err := s.evidence.compare(s.Plan, so.repeats)
	if err != nil {
		return err
	}
	c.LeaveOpen(why)
	s.decision = c
	s.say("the same command keeps these runs: to make others, choose another folder with -o, or delete %s", s.Dir)
	return nil
}
