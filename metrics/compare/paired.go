package compare

import (
	"math"
	"slices"
)

// A Paired is what sharing did to one target in several repeats. Each repeat has the target alone
// and with the others, so its slowdown is the ratio of one pair.
type Paired struct {
	Target  string
	Effects []Sharing // of each repeat

	// Bound reports that the request rate limits the throughput with the others in some repeat.
	Bound bool
}

// Pair collects what sharing did to each target in the groups, in the order of their first ones. It
// leaves out groups in which the target was not alone, and targets with fewer than two groups left.
func Pair(groups []Group) []Paired {
	var pairs []Paired
	for i := range groups {
		in := groups[i].Interference()
		for _, e := range in.Effects {
			if e.Alone == nil {
				continue
			}
			at := slices.IndexFunc(pairs, func(p Paired) bool { return p.Target == e.Target })
			if at < 0 {
				at, pairs = len(pairs), append(pairs, Paired{Target: e.Target})
			}
			p := &pairs[at]
			p.Effects, p.Bound = append(p.Effects, e), p.Bound || slices.Contains(in.Bound, e.Target)
		}
	}
	return slices.DeleteFunc(pairs, func(p Paired) bool { return len(p.Effects) < 2 })
}

// Few reports that the measure is the tail of too few samples in some run.
func (p *Paired) Few(m Measure) bool {
	return slices.ContainsFunc(p.Effects, func(e Sharing) bool { return m.Few(e.Alone) || m.Few(e.Shared) })
}

// Slowdown is the geometric mean of the pairs' slowdowns, for which a slowdown and its inverse
// cancel, with the least and the most of them. All are NaN if one is unknown.
func (p *Paired) Slowdown(m Measure) (mean, least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	logs := 0.0
	for i := range p.Effects {
		v := p.Effects[i].Slowdown(m)
		logs += math.Log(v)
		least, most = min(least, v), max(most, v)
	}
	return math.Exp(logs / float64(len(p.Effects))), least, most
}
