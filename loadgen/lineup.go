package loadgen

import (
	"fmt"
	"slices"

	"github.com/servebench/servebench/loadgen/lineup"
)

// A Member is a target in a load test, and its plan there.
type Member struct {
	lineup.Member
	Plan *Plan
}

// Sequence are the load tests of a repeat, counted from 0, in their order; see package lineup.
func (p *Plan) Sequence(repeat int) (all [][]Member) {
	for _, test := range p.lineup().Repeat(repeat) {
		var members []Member
		for _, m := range test {
			members = append(members, Member{m, p.all()[m.Index].member(m)})
		}
		all = append(all, members)
	}
	return all
}

// Trials is the number of load tests of single targets in a run.
func (p *Plan) Trials() int {
	n := 0
	for _, members := range p.lineup().Repeat(0) {
		n += len(members)
	}
	return max(p.Repeat, 1) * n
}

// Seeds is how many seeds a repeat uses, counted from the first seed of all its targets.
func (p *Plan) Seeds() int64 { return p.lineup().Seeds() }

func (p *Plan) lineup() *lineup.Lineup {
	l := &lineup.Lineup{Solo: p.SoloFirst, Pairs: p.Pairs, Backward: p.Backward}
	for _, t := range p.all() {
		l.Targets = append(l.Targets, lineup.Target{Name: t.Target, URL: t.Server.BaseURL, Socket: t.Server.Socket,
			Seed: t.Workload.Seed})
	}
	return l
}

// member is the plan of a target as a member of a load test.
func (p *Plan) member(m lineup.Member) *Plan {
	seeded := *p
	seeded.Workload.Seed = m.Seed
	seeded.Flags = slices.Clone(p.Flags)
	for i, kv := range seeded.Flags {
		if kv.Key == "seed" {
			seeded.Flags[i].Value = fmt.Sprint(m.Seed)
		}
	}
	if m.Solo || m.With != "" {
		seeded.Traffic.Seed = &m.Arrivals
		seeded.Report.Part(m.Solo, m.With)
	}
	return &seeded
}
