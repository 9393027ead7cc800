package main

import (
	"hash/fnv"
	"math/rand/v2"

	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
)

// A cell is one experiment, to be done many times.
type cell struct {
	noise  noise
	design design
	n      int     // values a side
	margin float64 // of all gated numbers
	effect float64 // share by which one number of the new side is worse
}

// A rule decides about the runs of two sides.
type rule func(old, new []*brief.Run, margin float64) compare.Verdict

// rules are the gate as it is, the gate as it was, and two textbook tests.
var rules = []struct {
	name   string
	decide rule
}{
	{"gate", gate}, {"before", before}, {"paired t", test(pairedT).decide}, {"Mann–Whitney", test(ranks).decide},
}

// gate is servebench compare.
func gate(old, new []*brief.Run, margin float64) compare.Verdict {
	g := gating.Default()
	for i := range g.Limits {
		g.Limits[i].Relative = margin
	}
	return compare.Compare(old, new, g).Verdict
}

// A tally is how often each rule came to each verdict, in the order of rules.
type tally []map[compare.Verdict]int

// try does the experiment so many times. Cells that differ in effect and margin only see the same noise.
func (c cell) try(seed uint64, trials int) tally {
	chance := rand.New(rand.NewPCG(seed, c.hash()))
	slots := c.design.slots(c.n)
	found := make(tally, len(rules))
	for i := range found {
		found[i] = map[compare.Verdict]int{}
	}
	for range trials {
		old, new := session(chance, c.noise, slots, c.effect)
		for i, r := range rules {
			found[i][r.decide(old, new, c.margin)]++
		}
	}
	return found
}

// hash is the same for cells with the same noise, design and number of values.
func (c cell) hash() uint64 {
	hash := fnv.New64a()
	hash.Write([]byte(c.noise.name + "|" + c.design.name))
	return hash.Sum64() + uint64(c.n)
}
