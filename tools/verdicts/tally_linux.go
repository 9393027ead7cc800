package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/servebench/servebench/metrics/verdict"
)

// A tally counts runs by truth and verdict.
type tally struct {
	counts     [2][2]int // by: is any number wrong; is the block doubted
	overloaded int       // of the doubted
	largest    float64   // relative error of a number in a VALID block
}

func (t *tally) add(j *judged) {
	wrong, doubted := 0, 0
	if len(j.wrong()) > 0 {
		wrong = 1
	}
	if j.verdict == verdict.Valid {
		t.largest = max(t.largest, j.largest())
	} else {
		doubted = 1
	}
	if j.verdict == verdict.Overloaded {
		t.overloaded++
	}
	t.counts[wrong][doubted]++
}

// rightDoubted is the share of right blocks that are doubted.
func (t *tally) rightDoubted() share { return share{t.counts[0][1], t.counts[0][0] + t.counts[0][1]} }

// wrongValid is the share of wrong blocks that are VALID.
func (t *tally) wrongValid() share { return share{t.counts[1][0], t.counts[1][0] + t.counts[1][1]} }

// A share is some of all.
type share struct{ some, all int }

// z is the 97.5th percentile of the normal distribution.
const z = 1.959963984540054

// interval is the score interval of 95 % (E. B. Wilson, Journal of the American Statistical
// Association 22, 1927).
func (s share) interval() (low, high float64) {
	n := float64(s.all)
	p := float64(s.some) / n
	middle := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, (middle-half)/(1+z*z/n)), min(1, (middle+half)/(1+z*z/n))
}

func (s share) String() string {
	if s.all == 0 {
		return "–"
	}
	low, high := s.interval()
	return fmt.Sprintf("%.1f %% (%.1f–%.1f)", 100*float64(s.some)/float64(s.all), 100*low, 100*high)
}

// A checkTally counts the runs in which a check failed. Index 1 is of wrong blocks.
type checkTally struct {
	failed [2]int
	alone  [2]int // and no other check
}

// tallies count all runs: the total, by load, by condition and by check. Loads and conditions
// stand in the order of their lists.
type tallies struct {
	total      tally
	loads      ordered[tally]
	conditions ordered[tally]
	checks     ordered[checkTally]
	unjudged   []string  // runs without numbers or without a verdict
	changed    int       // runs that have another verdict than the one they printed
	missed     []*judged // wrong and VALID
}

func count(all []*judged) *tallies {
	t := new(tallies)
	for _, j := range all {
		if len(j.numbers) == 0 {
			t.unjudged = append(t.unjudged, j.name)
			continue
		}
		t.total.add(j)
		t.loads.of(j.Load).add(j)
		t.conditions.of(j.Condition).add(j)
		wrong := 0
		if len(j.wrong()) > 0 {
			wrong = 1
		}
		for _, c := range j.failed {
			of := t.checks.of(c.Name)
			of.failed[wrong]++
			if len(j.failed) == 1 {
				of.alone[wrong]++
			}
		}
		if wrong == 1 && j.verdict == verdict.Valid {
			t.missed = append(t.missed, j)
		}
		if !j.printed {
			t.changed++
		}
	}
	t.loads.sorted(names(loads))
	t.conditions.sorted(names(conditions))
	return t
}

// sorted puts the names into the order of a list, and the others behind them.
func (o *ordered[T]) sorted(list []string) {
	place := func(name string) int {
		if i := slices.Index(list, name); i >= 0 {
			return i
		}
		return len(list)
	}
	slices.SortStableFunc(o.names, func(a, b string) int { return place(a) - place(b) })
}

// An ordered has values by name, in the order in which they came.
type ordered[T any] struct {
	names  []string
	values map[string]*T
}

func (o *ordered[T]) of(name string) *T {
	if o.values == nil {
		o.values = map[string]*T{}
	}
	if o.values[name] == nil {
		o.names, o.values[name] = append(o.names, name), new(T)
	}
	return o.values[name]
}
