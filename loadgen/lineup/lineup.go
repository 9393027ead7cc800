// Package lineup says which targets of a run are loaded together, in which order, and by which seeds.
//
// A run of several targets may load each alone, each pair, and all together, and all that again. Every second repeat
// goes backward, so that a drift during both slows down one load test as much as it speeds up the other. A server
// keeps the prompts that it has seen in its prefix cache, so what it may see twice gets another seed; what can be the
// same for the sake of comparing is the same.
package lineup

import (
	"slices"

	"github.com/servebench/servebench/loadgen/settings"
)

// A Lineup says what a run loads.
type Lineup struct {
	// Targets are all targets, at least one.
	Targets []Target

	// Solo loads each target alone, too, and Pairs each pair of more than two.
	Solo, Pairs bool

	// Backward begins with the reversed order.
	Backward bool
}

// A Target is a server, and the seed of its prompts in the first load test.
type Target struct {
	Name        string
	URL, Socket string // where the server is; two targets at one place are one server
	Seed        int64
}

// A Member is a target in a load test.
type Member struct {
	Index int    // among the Lineup's Targets
	Solo  bool   // it is alone, though the run has several targets
	With  string // the other target, if some of the targets of the run are not there

	// Seed is the seed of its prompts, and Arrivals of the times at which they are due. They differ where some of the
	// targets are not there: the times are as in the load test with all targets.
	Seed, Arrivals int64
}

// A subset are the targets that one load test loads together, by their indices.
type subset []int

// Repeat returns the load tests of a repeat, counted from 0, in their order.
func (l *Lineup) Repeat(n int) (all [][]Member) {
	for _, s := range l.subsets() {
		var members []Member
		for _, index := range s {
			members = append(members, l.member(index, n, s))
		}
		all = append(all, members)
	}
	if (n%2 == 1) != l.Backward {
		slices.Reverse(all)
	}
	return all
}

// member is a target in the load test of a subset. Repeats get different seeds, and so do targets on one server, and
// each subset with such a target. Targets on different servers get the same prompts.
func (l *Lineup) member(index, repeat int, s subset) Member {
	together := l.seeds()[index] + int64(repeat)*l.Seeds()
	m := Member{Index: index, Seed: (together + l.slot(s)*l.span()) % settings.Seeds, Arrivals: together % settings.Seeds}
	switch {
	case len(s) == len(l.Targets):
	case len(s) == 1:
		m.Solo = true
	default:
		other := slices.IndexFunc(s, func(i int) bool { return i != index })
		m.With = l.Targets[s[other]].Name
	}
	return m
}

// subsets are the load tests of a repeat: each target alone, each pair, and all together, as far as
// the run wants them.
func (l *Lineup) subsets() (all []subset) {
	n := len(l.Targets)
	everyone := make(subset, n)
	for i := range everyone {
		everyone[i] = i
	}
	if l.Solo {
		for i := range n {
			all = append(all, subset{i})
		}
	}
	if l.Solo && l.Pairs && n > 2 {
		for i := range n {
			for j := i + 1; j < n; j++ {
				all = append(all, subset{i, j})
			}
		}
	}
	return append(all, everyone)
}

// slot is which of a repeat's slots of seeds a subset uses: 0 for all targets, one for all that are
// alone, and another one for each pair, as each target is in several of them.
func (l *Lineup) slot(s subset) int64 {
	switch n := len(l.Targets); {
	case len(s) == n:
		return 0
	case len(s) == 1:
		return 1
	default:
		pair := slices.IndexFunc(l.subsets(), func(other subset) bool { return slices.Equal(other, s) })
		return int64(2 + pair - n)
	}
}

// Seeds is how many seeds a repeat uses, counted from the first seed of all its targets.
func (l *Lineup) Seeds() int64 {
	last := int64(0)
	for _, s := range l.subsets() {
		last = max(last, l.slot(s))
	}
	return (last + 1) * l.span()
}

// span is how many seeds a load test uses, from the first to the last: seeds are on a circle, and span
// is the circle without its longest gap.
func (l *Lineup) span() int64 {
	seeds := l.seeds()
	slices.Sort(seeds)
	last := seeds[0] + settings.Seeds
	longest := int64(0)
	for _, seed := range slices.Backward(seeds) {
		longest = max(longest, last-seed)
		last = seed
	}
	return settings.Seeds - longest + 1
}

// seeds are the seeds of the first load test with all targets: as given, unless a server would get the same prompts
// from two targets.
func (l *Lineup) seeds() (seeds []int64) {
	taken := map[Target]bool{}
	for _, t := range l.Targets {
		prompts := Target{URL: t.URL, Socket: t.Socket, Seed: t.Seed}
		for taken[prompts] {
			prompts.Seed = (prompts.Seed + 1) % settings.Seeds
		}
		taken[prompts] = true
		seeds = append(seeds, prompts.Seed)
	}
	return seeds
}
