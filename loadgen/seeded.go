package loadgen

import (
	"fmt"
	"slices"
)

// member is the nth target in the load test of a subset. A server keeps the prompts that it
// has seen in its prefix cache. So repeats get different seeds, and so do targets on one server, and
// each subset with such a target. Targets on different servers get the same prompts. A subset keeps
// the arrival times of the run with all targets.
func member(p *Plan, nth, repeat int, s subset) Member {
	slot := p.slot(s)
	together := p.seeds()[nth] + int64(repeat)*p.Seeds()
	seeded := *p.all()[nth]
	seeded.Workload.Seed = (together + slot*p.span()) % seedCircle
	seeded.Flags = slices.Clone(seeded.Flags)
	for i, kv := range seeded.Flags {
		if kv.Key == "seed" {
			seeded.Flags[i].Value = fmt.Sprint(seeded.Workload.Seed)
		}
	}
	solo, with := s.among(p.all(), nth)
	if solo || with != "" {
		arrivals := together % seedCircle
		seeded.Traffic.Seed = &arrivals
		seeded.part(solo, with)
	}
	return Member{Plan: &seeded, Solo: solo, With: with, nth: nth}
}

// Seeds is how many seeds a repeat uses, counted from the first seed of all its targets.
func (p *Plan) Seeds() int64 { return p.slots() * p.span() }

// span is how many seeds a trial uses, from the first to the last: seeds are on a circle, and span
// is the circle without its longest gap.
func (p *Plan) span() int64 {
	seeds := p.seeds()
	slices.Sort(seeds)
	last := seeds[0] + seedCircle
	longest := int64(0)
	for _, seed := range slices.Backward(seeds) {
		longest = max(longest, last-seed)
		last = seed
	}
	return seedCircle - longest + 1
}

// seedCircle is the number of seeds: 0 comes after the last.
const seedCircle = 1 << 32

// seeds are the seeds of the first trial: as given, unless a server would get the same prompts from
// two targets.
func (p *Plan) seeds() []int64 {
	type prompts struct {
		url, socket string
		seed        int64
	}
	taken := map[prompts]bool{}
	var seeds []int64
	for _, o := range p.all() {
		p := prompts{o.Server.BaseURL, o.Server.Socket, o.Workload.Seed}
		for taken[p] {
			p.seed = (p.seed + 1) % seedCircle
		}
		taken[p] = true
		seeds = append(seeds, p.seed)
	}
	return seeds
}
