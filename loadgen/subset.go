package loadgen

import (
	"fmt"
	"slices"

	"github.com/servebench/servebench/metrics"
)

// A subset are the targets that one load test loads together, by their indices.
type subset []int

// subsets are the load tests of a repeat: each target alone, each pair, and all together, as far as
// the plan wants them.
func (p *Plan) subsets() (all []subset) {
	n := max(len(p.Targets), 1)
	everyone := make(subset, n)
	for i := range everyone {
		everyone[i] = i
	}
	if p.SoloFirst {
		for i := range n {
			all = append(all, subset{i})
		}
	}
	if p.SoloFirst && p.Pairs && n > 2 {
		for i := range n {
			for j := i + 1; j < n; j++ {
				all = append(all, subset{i, j})
			}
		}
	}
	return append(all, everyone)
}

// A Member is a target in a load test: its plan, with the seed of its prompts there.
type Member struct {
	Plan *Plan
	Solo bool   // it is alone, though the run has several targets
	With string // the other target, if some of the targets of the run are not there

	nth int // its index among all targets
}

// Sequence are the load tests of a repeat, counted from 0, in their order. Every second repeat reverses it. A drift
// during both repeats then slows down one load test as much as it speeds up the other.
func (p *Plan) Sequence(repeat int) (all [][]Member) {
	for _, s := range p.subsets() {
		var members []Member
		for _, i := range s {
			members = append(members, member(p, i, repeat, s))
		}
		all = append(all, members)
	}
	if (repeat%2 == 1) != p.Backward {
		slices.Reverse(all)
	}
	return all
}

// among says whether the nth target is alone in s, or which other one is in it, if s lacks a target.
func (s subset) among(targets []*Plan, nth int) (solo bool, with string) {
	switch {
	case len(s) == len(targets):
	case len(s) == 1:
		return true, ""
	default:
		other := slices.IndexFunc(s, func(i int) bool { return i != nth })
		with = targets[s[other]].Target
	}
	return false, with
}

// slot is which of a repeat's slots of seeds a subset uses: 0 for all targets, one for all that are
// alone, and another one for each pair, as each target is in several of them.
func (p *Plan) slot(s subset) int64 {
	switch n := max(len(p.Targets), 1); {
	case len(s) == n:
		return 0
	case len(s) == 1:
		return 1
	default:
		pair := slices.IndexFunc(p.subsets(), func(other subset) bool { return slices.Equal(other, s) })
		return int64(2 + pair - n)
	}
}

// slots is how many times a repeat uses the seeds of a trial.
func (p *Plan) slots() int64 {
	most := int64(0)
	for _, s := range p.subsets() {
		most = max(most, p.slot(s))
	}
	return most + 1
}

// part marks the plan of a target that is loaded without some others.
func (p *Plan) part(solo bool, with string) {
	h := metrics.Header{Solo: solo, With: with}
	if p.Report.PartLabels {
		p.Report.Label = fmt.Sprintf("%s-%s", p.Report.Label, h.Part("-"))
	}
	kv := metrics.KV{Key: "with", Value: with}
	if solo {
		kv = metrics.KV{Key: "alone", Value: "true"}
	}
	p.Report.Metadata = append(slices.Clone(p.Report.Metadata), kv)
}
