package sweep

import "slices"

// probesPerCell is how far apart the seeds of two cells are under a search, in
// runs.
const probesPerCell = 1000

// SeedOf is the seed of a cell's probe, the first of which is 0. Arms share the
// seeds of a repeat, so that they are compared on one workload, unless Spread
// found that they load the same server; repeats, points and probes differ, so
// that no prompt is in a prefix cache already.
func (p *Plan) SeedOf(c Cell, probe int) int64 {
	n := int64(c.Repeat*len(p.Points)+c.Point)*int64(max(p.turns, 1)) + int64(p.Arms[c.Arm].turn)
	if p.Search != nil {
		n = n*probesPerCell + int64(probe)
	}
	return p.Seed + n*max(p.seeds, 1)
}

// Spread keeps apart the seeds of what must not be sent the same prompts: a run
// takes as many seeds, and the runs of each arm load the servers whose addresses
// are given. An arm's own servers know no prompts of other arms, wherever they
// are, since they are started anew for it. To be called before any seed is asked
// for.
func (p *Plan) Spread(seeds int64, servers [][]string) {
	p.seeds, p.turns = seeds, 1
	for i := range p.Arms {
		arm := &p.Arms[i]
		arm.turn = 0
		for j := range i {
			if other := &p.Arms[j]; arm.Servers == nil && other.Servers == nil && slices.ContainsFunc(servers[i], func(address string) bool {
				return slices.Contains(servers[j], address)
			}) {
				arm.turn = max(arm.turn, other.turn+1)
			}
		}
		p.turns = max(p.turns, arm.turn+1)
	}
}
