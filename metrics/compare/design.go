package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
)

// A Design is how the runs of both sides are arranged in time. It decides how they are compared. It
// depends on the labels and times of the runs, never on their numbers.
type Design string

const (
	InPairs Design = "paired" // each old run has its new one, and pairs follow each other
	// no pairs, but neither side was first, nor ran long before the other's turn
	InTurns       Design = "alternated"
	OneAfterOther Design = "one after the other" // all of one side first, or long parts of it, or nobody knows when
	Chain         Design = "chain"               // a baseline of several sessions, and a new one
)

// A pair is an old and a new run with the same load, repeat and seed.
type pair struct{ old, new *brief.Run }

// began and ended are the ends of the time that the pair took.
func (p pair) began() time.Time { return earlier(p.old.Began, p.new.Began) }

func (p pair) ended() time.Time { return later(p.old.End(), p.new.End()) }

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// An arrangement is the runs of a point by design and unit, in the order of time.
type arrangement struct {
	unit     gating.Unit
	pairs    [][]pair       // of each unit, if the design is InPairs
	old, new [][]*brief.Run // of each unit, otherwise
	alone    int            // runs without a partner, which InPairs leaves out
	levels   levels
	most     int // pairs of a sequential sweep; 0 for other runs
}

// arrange finds the design of the point.
func (p *Point) arrange(gate *gating.Gate) {
	p.unit = gate.Counted()
	p.old, p.new = ByUnit(p.Old, p.unit), ByUnit(p.New, p.unit)
	pairs := p.matched()
	switch {
	case p.Old != nil && p.Old[0].Session != "":
		p.Design = OneAfterOther // a baseline always comes before
		if chain := p.sessions(); gate.Unit == "" && len(chain) >= leastSessions {
			p.Design, p.unit = Chain, gating.PerSession
			p.old, p.new = chain, [][]*brief.Run{p.New}
		}
	case follow(pairs) && 2*len(pairs) > max(len(p.Old), len(p.New)):
		p.Design = InPairs
		p.alone = len(p.Old) + len(p.New) - 2*len(pairs)
		p.pairs = together(pairs, p.unit)
	case inTurns(p.old, p.new):
		p.Design = InTurns
	default:
		p.Design = OneAfterOther
	}
}

// Unit is what counts as one piece of evidence.
func (p *Point) Unit() gating.Unit { return p.unit }

// Units are how many units each side has: starts of servers, or runs. Of pairs there are as many on
// both sides.
func (p *Point) Units() (old, new int) {
	if p.Design == InPairs {
		return len(p.pairs), len(p.pairs)
	}
	return len(p.old), len(p.new)
}

// Scope says for which servers a verdict holds, if not for all starts of them; else it is empty.
func (c *Comparison) Scope() string {
	if c.Unit == gating.PerStart && slices.ContainsFunc(c.Points, func(p Point) bool { return sessions(p.Old) != nil }) {
		return "on these baseline sessions only"
	}
	if c.Unit != gating.PerRun {
		return ""
	}
	starts := map[string]bool{}
	for _, p := range c.Points {
		for _, r := range slices.Concat(p.Old, p.New) {
			starts[r.Start] = true
		}
	}
	if len(starts) > 2 {
		return "on these processes only"
	}
	return "on these two processes only"
}

// Arranged is the design in words, with the number of units; empty for result blocks, which do not say
// how they were made.
func (p *Point) Arranged() string {
	old, new := p.Units()
	runs := slices.Concat(p.Old, p.New)
	switch {
	case slices.ContainsFunc(runs, (*brief.Run).IsBlock):
		return ""
	case p.unit == gating.PerStart && slices.ContainsFunc(runs, (*brief.Run).Unplaced):
		return fmt.Sprintf("%s, on unknown server starts", p.Design)
	}
	if p.Design == Chain {
		return fmt.Sprintf("%s, %d %s", p.Design, old, p.noun(old))
	}
	if p.Design == InPairs {
		text := fmt.Sprintf("%s, %d %s", p.Design, old, p.noun(old))
		if p.most > 0 {
			text += fmt.Sprintf(", of at most %d", p.most)
		}
		return text
	}
	return fmt.Sprintf("%s, %d old and %d new %s", p.Design, old, new, p.noun(old+new))
}

// noun is the word for so many units.
func (p *Point) noun(n int) string {
	word := map[gating.Unit]string{
		gating.PerStart: "server start", gating.PerRun: "run", gating.PerSession: "baseline session",
	}[p.unit]
	if n != 1 {
		word += "s"
	}
	if p.Design == InPairs {
		word = map[bool]string{true: "pair of ", false: "pairs of "}[n == 1] + strings.TrimSuffix(word, "s") + "s"
	}
	return word
}

// aSide is noun for how many each side takes.
func (p *Point) aSide(n int) string {
	if p.Design == InPairs {
		return p.noun(n)
	}
	return p.noun(n) + " a side"
}

// ByUnit are the runs by unit. Runs on starts that nobody knows may all be on one.
func ByUnit(runs []*brief.Run, unit gating.Unit) (all [][]*brief.Run) {
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b *brief.Run) int { return a.Began.Compare(b.Began) })
	if unit == gating.PerRun {
		return slices.Collect(slices.Chunk(runs, 1))
	}
	starts, by := metrics.By(runs, func(r *brief.Run) string { return r.Start })
	for _, start := range starts {
		all = append(all, by[start])
	}
	return all
}

// matched are the pairs of the point, in the order of time. There are none if a side has two runs
// with the same repeat and seed, or if neither distinguishes the runs.
func (s *Sides) matched() (pairs []pair) {
	old, new := byRepeat(s.Old), byRepeat(s.New)
	for key, a := range old {
		if b := new[key]; b != nil {
			pairs = append(pairs, pair{a, b})
		}
	}
	if len(pairs) == 1 && pairs[0].old.Repeat == 0 {
		return nil // nothing says that they belong together
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(a.began().Compare(b.began()), cmp.Compare(a.old.Repeat, b.old.Repeat))
	})
	return pairs
}

// byRepeat are the runs by repeat and seed, nil if two have the same.
func byRepeat(runs []*brief.Run) map[string]*brief.Run {
	by := map[string]*brief.Run{}
	for _, r := range runs {
		by[fmt.Sprint(r.Repeat, " ", r.Asked.Value(asked.Seed))] = r
	}
	if len(by) < len(runs) {
		return nil
	}
	return by
}

// follow reports that there are pairs, and that each ended before the next began.
func follow(pairs []pair) bool {
	for i, p := range pairs {
		if p.old.Began.IsZero() || p.new.Began.IsZero() || i > 0 && p.began().Before(pairs[i-1].ended()) {
			return false
		}
	}
	return len(pairs) > 0
}

// together are the pairs by unit: pairs with a start in common are not independent of each other.
func together(pairs []pair, unit gating.Unit) (all [][]pair) {
	for _, p := range pairs {
		joined, others := []pair{p}, [][]pair(nil)
		for _, known := range all {
			if unit == gating.PerStart && slices.ContainsFunc(known, p.sharesStart) {
				joined = append(known, joined...)
			} else {
				others = append(others, known)
			}
		}
		all = append(others, joined)
	}
	return all
}

// sharesStart reports that two pairs have runs on the same start, or on starts that nobody knows.
func (p pair) sharesStart(other pair) bool {
	return p.old.Start == other.old.Start || p.new.Start == other.new.Start || p.old.Start == other.new.Start ||
		p.new.Start == other.old.Start
}

// inTurns reports that neither side was first, and that they took turns: an old unit began before a
// new one in a quarter to three quarters of all such pairs, and at least each third unit is of the other
// side than the one before, or began with it. In longer stretches of one side, what wanders or drifts
// looks like a difference of the sides.
func inTurns(old, new [][]*brief.Run) bool {
	isNew := map[*brief.Run]bool{}
	for _, b := range new {
		isNew[b[0]] = true
	}
	firsts := make([]*brief.Run, 0, len(old)+len(new))
	for _, unit := range slices.Concat(old, new) {
		if unit[0].Began.IsZero() {
			return false
		}
		firsts = append(firsts, unit[0])
	}
	before, all := 0, 0
	for _, a := range old {
		for _, b := range new {
			before += 1 + b[0].Began.Compare(a[0].Began) // 0, 1 or 2
			all += 2
		}
	}
	if all == 0 {
		return false
	}
	slices.SortStableFunc(firsts, func(a, b *brief.Run) int { return a.Began.Compare(b.Began) })
	turns := 0
	for i, r := range firsts[1:] {
		if isNew[r] != isNew[firsts[i]] || r.Began.Equal(firsts[i].Began) {
			turns++
		}
	}
	return 4*before >= all && 4*before <= 3*all && 3*turns >= len(firsts)-1
}
